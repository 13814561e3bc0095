import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serveAgent, type AgentHandler, type ServeAgentOptions } from '../agent/index.ts';
import { connectA2a } from '../bindings/a2a/index.ts';
import { HubClient } from '../client/index.ts';
import {
  asWorkflow,
  createMaster,
  masterAgent,
  offerMessage,
  type MasterAgentOptions,
} from '../master/index.ts';
import type { Principal } from '../model/principal.ts';
import { localPrincipal, startHub, type RunningHub } from './wire.ts';

const workflow = asWorkflow({
  name: 'Answer',
  subtasks: [
    {
      id: 'write',
      name: 'Write the answer',
      agent: 'writer',
      needs: ['letter'],
      produces: [{ name: 'answer', description: 'The answer', type: 'text' }],
      todo: [{ id: 'draft', description: 'Draft it' }],
    },
  ],
});

/** Asks twice before it writes. */
const writer: AgentHandler = async (context, io) => {
  const tone = await io.ask('Formal or friendly?');
  const name = await io.ask('And your name?');
  const letter = await io.fetch(context.ContextItems[0]?.ContextID ?? '');
  await io.output('answer', 'text/plain', `${tone}, ${name}: ${letter.text()}`);
  await io.itemDone('draft', 'Drafted');
};

/** One subtask that turns a letter into a reply. */
const reply = (agent: string) =>
  asWorkflow({
    name: 'Reply',
    subtasks: [
      {
        id: 'write',
        name: 'Write',
        agent,
        needs: ['letter'],
        produces: [{ name: 'reply', description: 'The reply', type: 'text' }],
        todo: [{ id: 'draft', description: 'Draft it' }],
        evaluation: 'relaxed',
        attempts: 1,
      },
    ],
  });

/** Puts out a reply, and asks nothing. */
const replies: AgentHandler = async (context, io) => {
  const letter = await io.fetch(context.ContextItems[0]?.ContextID ?? '');
  await io.output('reply', 'text/plain', `Noted: ${letter.text()}`);
  await io.itemDone('draft', 'Drafted');
};

let dataDir: string;
let hub: RunningHub;
const open: { close(timeoutMs?: number): Promise<void> }[] = [];
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'throughline-'));
  hub = await startHub({ dataDir, port: 0 });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close(0)));
  await hub.close();
  rmSync(dataDir, { recursive: true });
});

async function keyOf(id: string, role: Principal['role']): Promise<string> {
  const principal = { tenant: 'local', id, role };
  return (await hub.hub.createKey(localPrincipal, { principal })).key;
}

async function serve(
  key: string,
  more: Pick<ServeAgentOptions, 'handler' | 'onMessage' | 'onCancel'>,
) {
  const client = new HubClient({ url: hub.url, key });
  const principal = await client.whoAmI();
  const card = { name: principal.id, description: `The ${principal.id}`, version: '1' };
  const served = await serveAgent({ card, ports: client.ports(), principal, ...more });
  open.push(served);
  return served;
}

/** An agent with a Master inside: what the Master's agents ask, it asks whoever wrote to it. */
async function serveDesk(key: string, url: string, id = 'writer', plan = workflow) {
  const client = new HubClient({ url: hub.url, key });
  const ports = client.master();
  const master = createMaster({
    ports,
    a2a: client,
    principal: await client.whoAmI(),
    name: 'Desk',
    agents: [{ id, name: id, url, behind: 'hub' }],
    retryMs: 5,
  });
  const request: MasterAgentOptions['request'] = (message) => ({
    workflow: plan,
    offered: offerMessage(plan, message),
  });
  const served = await serve(key, masterAgent({ master, ports, request }));
  return { ...served, master };
}

async function start(handler: AgentHandler = writer) {
  const served = await serve(await keyOf('writer', 'agent'), { handler });
  const deskKey = await keyOf('desk', 'agent');
  const desk = await serveDesk(deskKey, served.url);
  const priyaKey = await keyOf('priya', 'caller');
  const connect = async (url: string) => {
    const credential = `Bearer ${priyaKey}`;
    const self = { kind: 'user', name: 'Priya' } as const;
    const client = await connectA2a({ url, credential, self });
    open.push(client);
    return client;
  };
  const priya = await connect(desk.url);
  const hubAsPriya = new HubClient({ url: hub.url, key: priyaKey });
  return { desk, deskKey, writerUrl: served.url, connect, priya, hubAsPriya };
}

const say = (text: string) => [{ kind: 'text', text }] as const;

describe('an agent with a Master inside, whose agents ask', () => {
  it('asks its own user on the same task, and goes on with each answer', async () => {
    const { priya } = await start();
    const first = await priya.send({ parts: say('40 euros') });
    expect(first).toMatchObject({ awaiting: 'input', text: 'Formal or friendly?' });
    const on = { contextId: first.contextId, taskId: first.taskId ?? '' };
    const second = await priya.send({ ...on, parts: say('friendly') });
    expect(second).toMatchObject({ awaiting: 'input', text: 'And your name?' });
    const third = await priya.send({ ...on, parts: say('Priya') });
    expect(third).toMatchObject({ ...on, state: 'completed', text: 'friendly, Priya: 40 euros' });
  });

  it('takes the answer in another process, and the same answer once', async () => {
    const { desk, deskKey, writerUrl, priya, connect } = await start();
    const first = await priya.send({ parts: say('40 euros') });
    const on = { contextId: first.contextId, taskId: first.taskId ?? '' };
    await desk.close(0);
    const later = await connect((await serveDesk(deskKey, writerUrl)).url);
    const answer = { ...on, messageId: randomUUID(), parts: say('friendly') };
    expect((await later.send(answer)).text).toBe('And your name?');
    expect((await later.send(answer)).text).toBe('And your name?');
    expect((await later.send({ ...on, parts: say('Priya') })).text).toBe(
      'friendly, Priya: 40 euros',
    );
  });

  it('ends what it handed out when its user cancels instead of answering', async () => {
    const { desk, priya, hubAsPriya } = await start();
    const first = await priya.send({ parts: say('40 euros') });
    expect(await desk.master.openRuns()).toHaveLength(1);
    expect((await priya.cancel(first.taskId ?? '')).state).toBe('cancelled');
    await vi.waitFor(async () => expect(await desk.master.openRuns()).toEqual([]), 20_000);
    const { tasks } = await hubAsPriya.caseView(first.contextId);
    expect(tasks.map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
  });

  it('ends what it handed out also where it died before it was done with a cancellation', async () => {
    const { desk, deskKey, writerUrl, priya } = await start();
    const first = await priya.send({ parts: say('40 euros') });
    await desk.close(0);
    // One that hears of the cancellation, and does nothing more.
    const dying = await serve(deskKey, {
      onMessage: () => ({ text: '' }),
      onCancel: () => undefined,
    });
    const client = await connectA2a({
      url: dying.url,
      credential: `Bearer ${await keyOf('priya', 'caller')}`,
      self: { kind: 'user', name: 'Priya' },
    });
    open.push(client);
    expect((await client.cancel(first.taskId ?? '')).state).toBe('cancelled');
    await dying.close(0);
    expect(await desk.master.openRuns()).toHaveLength(1);
    const later = await serveDesk(deskKey, writerUrl);
    await vi.waitFor(async () => expect(await later.master.openRuns()).toEqual([]), 20_000);
  });

  it('streams what happens, takes a further message as a barge-in, and answers once', async () => {
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const seen: number[] = [];
    const { priya } = await start(async (context, io) => {
      seen.push(context.ContextItems.length);
      const items = context.ContextItems.map(({ ContextID }) => io.fetch(ContextID));
      const texts = (await Promise.all(items)).map((each) => each.text());
      if (seen.length === 1) {
        begun.resolve();
        await held.promise;
      }
      await io.output('answer', 'text/plain', texts.join(' + '));
      await io.itemDone('draft', 'Drafted');
    });
    const told: string[] = [];
    const watching = (async () => {
      for await (const task of priya.watch({ parts: say('40 euros') })) {
        if (task.taskId !== undefined) told.push(`${task.state} ${task.taskId} ${task.text}`);
      }
    })();
    await begun.promise;
    const [, taskId = ''] = told[0]?.split(' ') ?? [];
    const more = { taskId, messageId: randomUUID(), parts: say('No, 45 euros') };
    const done = await priya.send(more);
    held.resolve();
    await watching;
    expect(done).toMatchObject({ state: 'completed', text: '40 euros + No, 45 euros' });
    expect(seen).toEqual([1, 2]);
    const all = told.map((line) => line.replace(taskId, '…'));
    expect(all).toEqual(
      expect.arrayContaining([
        'in-progress … write: writer begins',
        'in-progress … a later requirement: modify write',
        'in-progress … write: completed',
        'completed … 40 euros + No, 45 euros',
      ]),
    );
    expect(await priya.send(more)).toMatchObject({ state: 'completed' });
    expect(seen).toHaveLength(2);
  });

  it('is cancelled as a whole while several messages on it are worked on', async () => {
    const begun = Promise.withResolvers<void>();
    const { desk, priya } = await start(async (_, io) => {
      begun.resolve();
      await new Promise((resolve) => {
        io.signal.addEventListener('abort', resolve);
      });
    });
    const ended = priya.send({ parts: say('40 euros') });
    await begun.promise;
    const [run = ''] = await desk.master.openRuns();
    const { requestTask } = await desk.master.status(run);
    // A further message does not hide the first from the cancellation.
    const other = priya.send({ taskId: requestTask, parts: say('Quick!') });
    await vi.waitFor(async () => {
      expect((await desk.master.status(run)).interruptions).toHaveLength(1);
    }, 20_000);
    expect((await priya.cancel(requestTask)).state).toBe('cancelled');
    expect((await ended).state).toBe('cancelled');
    expect((await other).state).toBe('cancelled');
    await vi.waitFor(async () => expect(await desk.master.openRuns()).toEqual([]), 20_000);
  });

  it('does what another Master hands over, from its contents, under the names of both plans', async () => {
    const written = await serve(await keyOf('writer', 'agent'), { handler: replies });
    const deskKey = await keyOf('desk', 'agent');
    const desk = await serveDesk(deskKey, written.url, 'writer', reply('writer'));
    const boss = await serveDesk(await keyOf('boss', 'agent'), desk.url, 'desk', reply('desk'));
    const credential = `Bearer ${await keyOf('priya', 'caller')}`;
    const priya = await connectA2a({
      url: boss.url,
      credential,
      self: { kind: 'user', name: 'P' },
    });
    open.push(priya);
    expect(await priya.send({ parts: say('40 euros') })).toMatchObject({
      state: 'completed',
      text: 'Noted: 40 euros',
    });
  });
});
