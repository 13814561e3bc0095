import { expect, it } from 'vitest';
import type { Principal } from '../model/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { Hub } from './hub.ts';

const desk: Principal = { tenant: 't', id: 'desk', role: 'agent' };
const reader: Principal = { tenant: 't', id: 'reader', role: 'agent' };
const writer: Principal = { tenant: 't', id: 'writer', role: 'agent' };
const payload = `sha-256:${'0'.repeat(64)}`;

async function scene(clock: { now: number } = { now: Date.now() }) {
  const hub = await Hub.open({
    store: await openMemoryStore(),
    domainKey: new Uint8Array(32).fill(7),
    origin: 'http://127.0.0.1:1',
    clock: () => new Date(clock.now),
  });
  const token = await hub.master(desk).callToken({ audience: 'reader', seconds: 60 });
  return { hub, clock, credential: `Bearer ${token}` };
}

const refused = (work: Promise<unknown>) =>
  expect(work).rejects.toMatchObject({ code: 'unauthenticated' });

it('tells the agent that it was made for who calls', async () => {
  const { hub, credential } = await scene();
  const caller = await hub.via(reader).authenticate(credential);
  expect(caller).toEqual({ ...desk, audience: 'reader' });
});

it('opens nothing for its holder, for another agent, or in another tenant', async () => {
  const { hub, credential } = await scene();
  await refused(hub.authenticate(credential));
  await refused(hub.via(writer).authenticate(credential));
  await refused(hub.via({ ...reader, tenant: 'other' }).authenticate(credential));
});

it('is over after its seconds, and altered it is nobody’s', async () => {
  const { hub, clock, credential } = await scene();
  await refused(hub.via(reader).authenticate(`${credential.slice(0, -4)}AAAA`));
  clock.now += 61_000;
  await refused(hub.via(reader).authenticate(credential));
});

it('shows the tasks of that agent alone', async () => {
  const { hub, credential } = await scene();
  const at = new Date().toISOString();
  for (const agent of [reader, writer]) {
    const [ports, caller] = [hub.via(agent), { principal: desk }];
    const messageId = `message-for-${agent.id}`;
    const request = { agent: agent.id, messageId, referenceTaskIds: [], payload };
    const { contextId } = await ports.admit(caller, request);
    const where = {
      protocol: 'a2a',
      side: 'server',
      endpoint: 'http://127.0.0.1:1/',
      contextId,
      client: { kind: 'agent', principal: desk.id },
      server: { kind: 'agent', principal: agent.id },
      at,
      taskId: `task-of-${agent.id}`,
    } as const;
    await ports.saveTask(
      caller,
      {
        id: `task-of-${agent.id}`,
        contextId,
        agent: agent.id,
        version: 0,
        state: 'completed',
        statusAt: at,
        messageId,
        body: {},
      },
      [
        { ...where, kind: 'message', messageId, referenceTaskIds: [], resources: [] },
        { ...where, kind: 'task', state: 'completed' },
      ],
    );
  }
  const shown = hub.via(reader);
  const caller = { principal: await shown.authenticate(credential), credential };
  const ids = async (query: object) =>
    (await shown.listTasks(caller, query)).tasks.map(({ id }) => id);
  expect(await ids({})).toEqual(['task-of-reader']);
  expect(await ids({ agent: 'writer' })).toEqual([]);
  expect(await shown.loadTask(caller, 'task-of-reader')).toBeDefined();
  expect(await shown.loadTask(caller, 'task-of-writer')).toBeUndefined();
});

it('makes no other token', async () => {
  const { hub, credential } = await scene();
  const bound = await hub.via(reader).authenticate(credential);
  const again = Promise.resolve().then(() =>
    hub.master(bound).callToken({ audience: 'writer', seconds: 60 }),
  );
  await expect(again).rejects.toMatchObject({ code: 'invalid' });
});
