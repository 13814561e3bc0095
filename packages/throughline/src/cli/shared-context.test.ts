import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cardOf, makeExecutor } from '../agent/index.ts';
import { a2aRoutes } from '../bindings/a2a/index.ts';
import { HubClient } from '../client/index.ts';
import type { Principal } from '../model/principal.ts';
import { localPrincipal, startHub, type RunningHub } from './wire.ts';

const literal = 'ctx_refund_ord123';
const principalOf = (id: string, role: Principal['role']): Principal => ({
  tenant: 'local',
  id,
  role,
});
const description = { name: 'Desk', description: 'Helps', version: '1' };

const onMessage = ({ text }: { text: string }) => ({ text: `Done: ${text}` });

let dataDir: string;
let hub: RunningHub;
const keys = new Map<string, string>();

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'throughline-'));
});
afterEach(async () => {
  await hub.close();
  rmSync(dataDir, { recursive: true });
});

/** A hub with that policy and a desk in it, and keys for two callers. */
async function start(contextPolicy: 'refuse' | 'adopt'): Promise<void> {
  const agent = principalOf('desk', 'agent');
  hub = await startHub({
    dataDir,
    port: 0,
    contextPolicy,
    taskTtlMs: 86_400_000,
    mounts: (inner, origin) => {
      const ports = { ...inner.via(agent), ...inner.agent(agent) };
      return {
        desk: a2aRoutes({
          card: cardOf({ ...description, url: `${origin}/agents/desk/` }, { takesContexts: false }),
          ports,
          agent,
          terms: inner.terms,
          executor: makeExecutor({ ports, principal: agent, onMessage }),
        }),
      };
    },
  });
  for (const id of ['priya', 'second-desk']) {
    const principal = principalOf(id, 'caller');
    keys.set(id, (await hub.hub.createKey(localPrincipal, { principal })).key);
  }
}

const headers = (who: string) => ({
  Authorization: `Bearer ${keys.get(who)}`,
  'A2A-Version': '1.0',
  'Content-Type': 'application/json',
});

const rpcSchema = z.looseObject({
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
const taskSchema = z.looseObject({ id: z.string(), contextId: z.string() });
const listSchema = z.looseObject({ tasks: z.array(taskSchema) });

async function rpc(who: string, method: string, params: object) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const url = `${hub.url}/agents/desk/`;
  const response = await fetch(url, { method: 'POST', headers: headers(who), body });
  return rpcSchema.parse(await response.json());
}

const send = async (who: string, message: object) =>
  rpc(who, 'SendMessage', {
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message },
  });
const sent = async (who: string, message: object) =>
  z.object({ task: taskSchema }).parse((await send(who, message)).result).task;

/** Tasks of a context, over each of the transports that the desk has. */
async function tasksOf(who: string, contextId: string): Promise<string[][]> {
  const told = listSchema.parse((await rpc(who, 'ListTasks', { contextId })).result);
  const response = await fetch(`${hub.url}/agents/desk/tasks?contextId=${contextId}`, {
    headers: headers(who),
  });
  const rest = listSchema.parse(await response.json());
  return [told, rest].map(({ tasks }) =>
    tasks.map(({ id }) => id).toSorted((a, b) => a.localeCompare(b)),
  );
}

const inOrder = (...ids: string[]) => ids.toSorted((a, b) => a.localeCompare(b));

/** The follow-up of a customer, as it goes over the wire; task ids are the server's. */
const followUp = (contextId: string, task: string) => ({
  role: 'ROLE_USER',
  messageId: 'msg_552',
  contextId,
  referenceTaskIds: [task],
  parts: [{ text: 'Also refund the $6.90 shipping fee on the same order.' }],
});
const refund = { parts: [{ text: 'Refund order ord123.' }] };

describe('a case under one context id', () => {
  it('keeps the id that its client brought, and groups its tasks under it', async () => {
    await start('adopt');
    const first = await sent('priya', { ...refund, contextId: literal });
    expect(first.contextId).toBe(literal);
    const second = await sent('priya', followUp(literal, first.id));
    expect(second.contextId).toBe(literal);
    expect(second.id).not.toBe(first.id);
    const both = inOrder(first.id, second.id);
    expect(await tasksOf('priya', literal)).toEqual([both, both]);
    const client = new HubClient({ url: hub.url, key: keys.get('priya') ?? '' });
    const view = await client.caseView(literal);
    expect(view.summary).toMatchObject({ contextId: literal, counts: { tasks: 2 } });
    const [a, b] = view.tasks;
    expect(view.relationships).toMatchObject([{ type: 'related-to', from: b?.id, to: a?.id }]);
  });

  it('is another case for another caller, who reads it with a grant alone', async () => {
    await start('adopt');
    const first = await sent('priya', { ...refund, contextId: literal });
    const second = await sent('priya', followUp(literal, first.id));
    const theirs = await sent('second-desk', { ...refund, contextId: literal });
    expect(await tasksOf('second-desk', literal)).toEqual([[theirs.id], [theirs.id]]);
    const client = new HubClient({ url: hub.url, key: keys.get('priya') ?? '' });
    const { contextId: handle, id } = await client.grant(literal, {
      grantee: 'second-desk',
      operations: ['get', 'list', 'send'],
    });
    expect(handle).not.toBe(literal);
    expect(await tasksOf('second-desk', handle)).toEqual([
      inOrder(first.id, second.id),
      inOrder(first.id, second.id),
    ]);
    const joined = await sent('second-desk', followUp(handle, second.id));
    expect(joined.contextId).toBe(handle);
    const all = inOrder(first.id, second.id, joined.id);
    expect(await tasksOf('priya', literal)).toEqual([all, all]);
    await client.revokeGrant(id);
    expect(await tasksOf('second-desk', handle)).toEqual([[joined.id], [joined.id]]);
    expect((await send('second-desk', { ...refund, contextId: handle })).error).toBeDefined();
  });

  it('is refused an id that was never issued, and goes on under the one that was', async () => {
    await start('refuse');
    const refused = await send('priya', { ...refund, contextId: literal });
    expect(refused.error?.message).toContain("can't be used");
    expect(await tasksOf('priya', literal)).toEqual([[], []]);
    const first = await sent('priya', refund);
    expect(first.contextId).toMatch(/^ctx_[0-9a-z]{26}$/);
    const second = await sent('priya', followUp(first.contextId, first.id));
    expect(second.contextId).toBe(first.contextId);
    const both = inOrder(first.id, second.id);
    expect(await tasksOf('priya', first.contextId)).toEqual([both, both]);
    expect(await tasksOf('second-desk', first.contextId)).toEqual([[], []]);
    const foreign = await send('second-desk', followUp(first.contextId, first.id));
    expect(foreign.error?.message).toContain("can't be used");
  });

  it('has its terms in the card', async () => {
    await start('adopt');
    const url = `${hub.url}/agents/desk/.well-known/agent-card.json`;
    const schema = z.looseObject({
      capabilities: z.looseObject({
        extensions: z.array(z.looseObject({ params: z.looseObject({}).optional() })),
      }),
    });
    const { capabilities } = schema.parse(await (await fetch(url)).json());
    expect(capabilities.extensions.map(({ params }) => params)).toContainEqual({
      contextPolicy: 'adopt',
      contextSeconds: 2_592_000,
      taskSeconds: 86_400,
    });
    const client = new HubClient({ url: hub.url, key: keys.get('priya') ?? '' });
    expect(await client.terms()).toEqual(hub.hub.terms);
  });
});
