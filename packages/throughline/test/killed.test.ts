import { fork, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectA2a, type A2aClient, type PeerTask } from 'throughline/a2a';
import { serveAgent, type MessageHandler } from 'throughline/agent';
import { connectAgent } from 'throughline/cli';
import { HubClient } from 'throughline/client';
import type { Principal } from 'throughline/model';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { freePort } from './free-port.ts';
import { repository } from './source.ts';

// Processes take their time to start on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const bin = join(repository, 'packages/throughline/bin/throughline.mjs');
const mortal = join(repository, 'packages/throughline/test/mortal-agent.ts');

let folder: string;
let hub: { url: string; kill(): Promise<void> };
const open: (() => Promise<void> | void)[] = [];

/** Ends a process as a crash would. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A hub in a process of its own, on the test's folder. */
async function startHub(port: string): Promise<typeof hub> {
  const soon = ['--worker-lease', '3s', '--worker-patience', '3s', '--sweep-every', '1s'];
  const args = [bin, 'serve', '--port', port, '--data', folder, '--json', ...soon];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  open.push(() => kill(child));
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url } = z.object({ url: z.url() }).parse(JSON.parse(String(line)));
  return { url, kill: () => kill(child) };
}

const restartHub = async (): Promise<void> => {
  hub = await startHub(new URL(hub.url).port);
};

const operator = (): HubClient =>
  new HubClient({ url: hub.url, key: readFileSync(join(folder, 'local.key'), 'utf8').trim() });

async function keyFor(id: string, role: Principal['role']): Promise<string> {
  const { tenant } = await operator().whoAmI();
  return (await operator().createKey({ principal: { tenant, id, role } })).key;
}

async function connect(url: string, key: string): Promise<A2aClient> {
  const connection = await connectA2a({
    url,
    credential: `Bearer ${key}`,
    self: { kind: 'user', name: 'Alice' },
    retry: { attempts: 100, firstMs: 50, capMs: 500 },
  });
  open.push(() => connection.close());
  return connection;
}

const message = (text: string) => ({
  messageId: randomUUID(),
  parts: [{ kind: 'text' as const, text }],
});

/** The task as it begins; what becomes of it goes on without this reader. */
async function begin(client: A2aClient): Promise<PeerTask> {
  for await (const task of client.watch(message('What is mine?'))) {
    if (task.taskId !== undefined) return task;
  }
  throw new Error('no task began');
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-killed-'));
  hub = await startHub(String(await freePort()));
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true, force: true });
});

describe('an agent that is killed', () => {
  const sayingSchema = z.looseObject({ kind: z.string() });

  async function startAgent(env: Record<string, string>) {
    const child = fork(mortal, { env: { ...process.env, ...env } });
    open.push(() => kill(child));
    const said = (kind: string): Promise<z.infer<typeof sayingSchema>> =>
      new Promise((resolve) => {
        child.on('message', (raw) => {
          const saying = sayingSchema.parse(raw);
          if (saying.kind === kind) resolve(saying);
        });
      });
    const working = said('working');
    let count = 0;
    child.on('message', (raw) => {
      if (sayingSchema.parse(raw).kind === 'working') count += 1;
    });
    const { url } = z.object({ url: z.url() }).parse(await said('listening'));
    return { url, working, worked: () => count, kill: () => kill(child) };
  }

  it('works on for the same caller, with the same message, when it is there again', async () => {
    const env = { HUB: hub.url, KEY: await keyFor('mortal', 'agent') };
    const first = await startAgent({ ...env, HOLD: 'yes' });
    const alice = await connect(first.url, await keyFor('alice', 'caller'));
    const answered = alice.send(message('What is mine?'));
    const before = await first.working;
    await first.kill();
    const second = await startAgent({ ...env, PORT: new URL(first.url).port });
    const after = await second.working;
    expect(before).toMatchObject({ resumed: false, work: { caller: { id: 'alice' } } });
    expect(after).toMatchObject({ resumed: true, work: before['work'] });
    expect(await answered).toMatchObject({ state: 'completed', text: 'Done for alice.' });
    expect(await alice.listTasks()).toMatchObject({ total: 1 });
  });

  it('has its task taken up, once, by whichever other process of it lives', async () => {
    const env = { HUB: hub.url, KEY: await keyFor('mortal', 'agent') };
    const first = await startAgent({ ...env, HOLD: 'yes' });
    const others = [await startAgent(env), await startAgent(env)];
    const alice = await connect(first.url, await keyFor('alice', 'caller'));
    const sent = await begin(alice);
    await first.working;
    await first.kill();
    const taken = await Promise.race(others.map(({ working }) => working));
    expect(taken).toMatchObject({ resumed: true, work: { taskId: sent.taskId } });
    const theirs = await connect(others[0]?.url ?? '', await keyFor('alice', 'caller'));
    const task = async () => theirs.getTask(sent.taskId ?? '');
    await vi.waitFor(async () => expect(await task()).toMatchObject({ state: 'completed' }), {
      timeout: 20_000,
    });
    expect(others.reduce((sum, { worked }) => sum + worked(), 0)).toBe(1);
    const { tasks, conflicts } = await operator().caseView(sent.contextId);
    expect(tasks.map(({ state }) => state)).toEqual(['completed']);
    expect(conflicts).toEqual([]);
  });

  it('and does not come back for long has its task unresolved till it does', async () => {
    const env = { HUB: hub.url, KEY: await keyFor('mortal', 'agent') };
    const first = await startAgent({ ...env, HOLD: 'yes' });
    const alice = await connect(first.url, await keyFor('alice', 'caller'));
    const sent = await begin(alice);
    await first.working;
    await first.kill();
    const view = () => operator().caseView(sent.contextId);
    const within = { timeout: 30_000, interval: 200 };
    await vi.waitFor(async () => expect((await view()).summary.stuck).toBe(1), within);
    const stuck = await view();
    expect(stuck.tasks).toMatchObject([{ state: 'in-progress', unresolved: true }]);
    const executor = stuck.participants.find(({ kind }) => kind === 'agent')?.id;
    expect(stuck.stuck).toMatchObject([{ why: 'outcome-unknown', whose: [executor] }]);
    const again = await startAgent(env);
    expect(await again.working).toMatchObject({ resumed: true });
    const state = async () => (await view()).tasks.map((each) => each.state);
    await vi.waitFor(async () => expect(await state()).toEqual(['completed']), within);
    expect((await view()).summary.stuck).toBe(0);
  });
});

describe('a hub that is killed', () => {
  it('is waited for by an agent at work, whose task ends once, with each output once', async () => {
    const began = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    let runs = 0;
    const onMessage: MessageHandler = async (_, io) => {
      runs += 1;
      await io.output('before', 'text/plain', 'put out before');
      began.resolve();
      await gone.promise;
      io.progress('The hub is away.');
      await io.output('meanwhile', 'text/plain', 'put out meanwhile');
      return { text: 'Done.' };
    };
    const key = await keyFor('worker', 'agent');
    const { ports } = await connectAgent({ hubUrl: hub.url, key });
    const agent = await serveAgent({
      card: { name: 'Worker', description: 'Works', version: '1.0.0' },
      ports,
      principal: await ports.authenticate(`Bearer ${key}`),
      onMessage,
    });
    open.push(() => agent.close());
    const alice = await connect(agent.url, await keyFor('alice', 'caller'));
    const answered = alice.send(message('Work, please.'));
    await began.promise;
    await hub.kill();
    gone.resolve();
    // Longer than a client of the hub tries by itself.
    await sleep(4_000);
    await restartHub();
    const task = await answered;
    expect(task).toMatchObject({ state: 'completed', text: 'Done.' });
    expect(task.outputs.map(({ name }) => name)).toEqual(['before', 'meanwhile']);
    expect(runs).toBe(1);
    expect(await alice.listTasks()).toMatchObject({ total: 1 });
    const { tasks, resources, conflicts } = await operator().caseView(task.contextId);
    expect(tasks.map(({ state }) => state)).toEqual(['completed']);
    expect(resources.map(({ name = '' }) => name).toSorted()).toEqual(['before', 'meanwhile']);
    expect(conflicts).toEqual([]);
  });
});
