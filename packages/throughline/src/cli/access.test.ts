import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubClient } from '../client/index.ts';
import { Hub } from '../hub/index.ts';
import type { Observation } from '../model/observation.ts';
import type { Principal } from '../model/principal.ts';
import { openMemoryStore, type Store } from '../store/index.ts';
import { named, nothing, samples, send, type Sample } from '../server/conformance.ts';
import { serveHub, type ServedHubHandle } from '../server/index.ts';

const tenant = 'acme';
const people = {
  operator: { tenant, id: 'operator', role: 'operator' },
  priya: { tenant, id: 'priya', role: 'caller' },
  stranger: { tenant, id: 'stranger', role: 'caller' },
  outsider: { tenant: 'other', id: 'operator', role: 'operator' },
  reader: { tenant, id: 'reader', role: 'agent' },
  intruder: { tenant, id: 'intruder', role: 'agent' },
} as const satisfies Record<string, Principal>;
type Person = keyof typeof people;

let store: Store;
let served: ServedHubHandle<Hub>;
const keys = new Map<Person, string>();
const keyOf = (person: Person): string => keys.get(person) ?? '';
const clientOf = (person: Person) => new HubClient({ url: served.url, key: keyOf(person) });

/** What exists, and an id of the same kind that names nothing. */
interface Pair {
  readonly real: string;
  readonly missing: string;
}
const there: Record<'context' | 'task' | 'grant' | 'key' | 'content', Pair> = {
  context: { real: '', missing: nothing('ctx') },
  task: { real: 'task-of-priya', missing: 'task-of-nobody' },
  grant: { real: '', missing: nothing('grt') },
  key: { real: '', missing: nothing('key') },
  content: { real: '', missing: nothing('res') },
};

const at = '2030-01-01T00:00:00Z';
const seen = (contextId: string): Observation[] => {
  const where = {
    protocol: 'a2a',
    side: 'server',
    endpoint: 'http://127.0.0.1:1/',
    contextId,
    client: { kind: 'user', principal: 'priya' },
    server: { kind: 'agent', principal: 'reader' },
    at,
  } as const;
  return [
    {
      ...where,
      kind: 'message',
      messageId: 'm-1',
      taskId: there.task.real,
      objective: 'Check my cash back',
      referenceTaskIds: [],
      resources: [],
    },
    { ...where, kind: 'task', taskId: there.task.real, state: 'in-progress' },
  ];
};

/** Priya’s task at the reader, recorded by an agent process over HTTP, with a grant and content. */
async function makeCase(): Promise<void> {
  const reader = clientOf('reader');
  const credential = `Bearer ${keyOf('priya')}`;
  const caller = { principal: await reader.authenticate(credential), credential };
  const admission = await reader.admit(caller, {
    agent: 'reader',
    messageId: 'm-1',
    referenceTaskIds: [],
    payload: `sha-256:${'0'.repeat(64)}`,
  });
  const { contextId } = admission;
  await reader.saveTask(
    caller,
    {
      id: there.task.real,
      contextId,
      agent: 'reader',
      version: 0,
      state: 'in-progress',
      statusAt: at,
      messageId: 'm-1',
      body: { secret: 'body of Priya' },
    },
    seen(contextId),
  );
  const grant = await clientOf('priya').grant(contextId, {
    grantee: 'reader',
    operations: ['get'],
  });
  const output = await reader.agent().putOutput({
    taskId: there.task.real,
    name: 'rows',
    mediaType: 'text/plain',
    bytes: new TextEncoder().encode('content of Priya'),
  });
  there.context = { ...there.context, real: contextId };
  there.grant = { ...there.grant, real: grant.id };
  there.content = { ...there.content, real: output.resource };
}

beforeAll(async () => {
  store = await openMemoryStore();
  served = await serveHub({
    port: 0,
    hub: (origin) => Hub.open({ store, domainKey: new Uint8Array(32).fill(7), origin }),
  });
  const { hub } = served;
  keys.set('operator', await hub.bootstrapKey(people.operator));
  keys.set('outsider', await hub.bootstrapKey(people.outsider));
  for (const person of ['priya', 'stranger', 'reader', 'intruder'] as const) {
    const made = await clientOf('operator').createKey({ principal: people[person] });
    keys.set(person, made.key);
    if (person === 'priya') there.key = { ...there.key, real: made.id };
  }
  await makeCase();
});
afterAll(async () => {
  await served.close();
  await served.hub.close();
});

/** Everything that the store’s log holds, in one hash. */
const headOf = (): Promise<string> =>
  store.read(async (reader) => JSON.stringify(await reader.head()));

describe('an agent process on a real hub', () => {
  it('records its caller’s task, which then is that caller’s', async () => {
    const mine = await clientOf('priya').listTasks({ principal: people.priya }, {});
    expect(mine.tasks.map(({ id, owner }) => ({ id, owner }))).toEqual([
      { id: there.task.real, owner: 'priya' },
    ]);
    const view = await clientOf('priya').caseView(there.context.real);
    expect(view.summary).toMatchObject({ owner: 'priya', contextId: there.context.real });
    expect(view.tasks.map(({ state }) => state)).toEqual(['in-progress']);
  });

  it('finds nothing of others, and can’t write in another agent’s name', async () => {
    const intruder = clientOf('intruder');
    const credential = `Bearer ${keyOf('priya')}`;
    const caller = { principal: people.priya, credential };
    const record = await clientOf('reader').loadTask({ principal: people.reader }, there.task.real);
    if (record === undefined) throw new Error('the reader lost its task');
    const before = await headOf();
    await expect(
      intruder.saveTask(caller, { ...record, state: 'completed' }, seen(record.contextId)),
    ).rejects.toMatchObject({ code: 'not-found' });
    await expect(
      intruder.admit(caller, {
        agent: 'reader',
        messageId: 'm-2',
        referenceTaskIds: [],
        payload: `sha-256:${'1'.repeat(64)}`,
      }),
    ).rejects.toMatchObject({ code: 'not-found' });
    await expect(intruder.observe(caller, seen(record.contextId))).rejects.toMatchObject({
      code: 'not-found',
    });
    expect(
      await intruder.loadTask({ principal: people.intruder }, there.task.real),
    ).toBeUndefined();
    expect(await headOf()).toBe(before);
  });
});

describe('what is not one’s own', () => {
  /** Which kind of thing each parameter of a route names. */
  const kinds: Readonly<Record<string, keyof typeof there>> = {
    'get /tasks/{id}': 'task',
    'put /tasks/{id}/push-configs/{config}': 'task',
    'get /tasks/{id}/push-configs': 'task',
    'delete /tasks/{id}/push-configs/{config}': 'task',
    'post /tasks/{id}/push-configs/{config}/settlement': 'task',
    'get /content/{id}': 'content',
    'get /locations/{taskId}': 'task',
    'get /cases/{id}': 'context',
    'delete /cases/{id}': 'context',
    'post /cases/{id}/close': 'context',
    'post /cases/{id}/reopen': 'context',
    'post /cases/{id}/labels': 'context',
    'post /cases/{id}/merge': 'context',
    'post /cases/{id}/split': 'context',
    'post /cases/{id}/corrections': 'context',
    'post /cases/{id}/undo': 'context',
    'get /cases/{id}/timeline': 'context',
    'get /cases/{id}/feed': 'context',
    'get /cases/{id}/export': 'context',
    'get /cases/{id}/handovers/{taskId}/texts': 'context',
    'post /contexts/{id}/grants': 'context',
    'get /contexts/{id}/grants': 'context',
    'delete /grants/{id}': 'grant',
    'delete /keys/{id}': 'key',
  };
  const routes = named.filter(({ name }) => kinds[name] !== undefined);
  const foreigners = (['stranger', 'outsider', 'intruder'] as const).flatMap((person) =>
    routes.map((each) => ({ person, ...each })),
  );

  it('is asked for by every route that names something stored', () => {
    const others = named.filter(({ name }) => kinds[name] === undefined).map(({ name }) => name);
    const withIds = others.filter((name) => name.includes('{'));
    // A worker is named by whoever asks, for itself alone.
    expect(withIds.filter((name) => !name.includes('{worker}'))).toEqual([
      'put /tasks/{id}',
      'get /runs/{id}',
      'put /runs/{id}',
    ]);
  });

  it.each(foreigners)(
    '$name answers $person as if it did not exist',
    async ({ person, name, route }) => {
      const kind = kinds[name] ?? 'task';
      const param = Object.keys(route.params.shape)[0] ?? '';
      const sample = samples('reader')[name] ?? {};
      const before = await headOf();
      const ask = async (id: string) => {
        const asked: Sample = { ...sample, params: { ...sample.params, [param]: id } };
        const response = await send(served.url, route, asked, { key: keyOf(person) });
        const text = await response.text();
        return { status: response.status, text: text.replaceAll(id, 'the id') };
      };
      const foreign = await ask(there[kind].real);
      expect(foreign).toEqual(await ask(there[kind].missing));
      expect(foreign.status).toBe(404);
      expect(await headOf()).toBe(before);
    },
  );

  it('is not subscribed to through an agent’s process with a right to read alone', async () => {
    const reader = clientOf('reader');
    const grant = await clientOf('priya').grant(there.context.real, {
      grantee: 'stranger',
      operations: ['get'],
    });
    const credential = `Bearer ${keyOf('stranger')}`;
    const caller = { principal: people.stranger, credential };
    const load = async (action?: 'cancel' | 'subscribe') =>
      (await reader.loadTask(caller, there.task.real, action))?.id;
    expect(await load()).toBe(there.task.real);
    expect(await load('subscribe')).toBeUndefined();
    expect(await load('cancel')).toBeUndefined();
    const before = await headOf();
    const [first] = seen(there.context.real);
    if (first === undefined) throw new Error('nothing seen');
    const asked = { ...first, kind: 'cancel-request', taskId: there.task.real } as const;
    await expect(reader.observe(caller, [asked])).rejects.toMatchObject({ code: 'not-found' });
    expect(await headOf()).toBe(before);
    await clientOf('priya').revokeGrant(grant.id);
  });

  it('is not in lists', async () => {
    for (const person of ['stranger', 'outsider', 'intruder'] as const) {
      const client = clientOf(person);
      expect((await client.cases()).cases).toEqual([]);
      const tasks = await client.listTasks({ principal: people[person] }, {});
      expect(tasks).toMatchObject({ tasks: [], total: 0 });
      const filtered = { contextId: there.context.real };
      expect((await client.listTasks({ principal: people[person] }, filtered)).tasks).toEqual([]);
    }
  });

  it('is not told by explain', async () => {
    const { tasks } = await clientOf('priya').caseView(there.context.real);
    for (const id of [tasks[0]?.id ?? '', there.task.real, there.context.real]) {
      await expect(clientOf('stranger').explain(id)).rejects.toMatchObject({ code: 'not-found' });
    }
  });

  it('is not written over: a task that others own, a run of another', async () => {
    const { activity } = (await clientOf('priya').caseView(there.context.real)).summary;
    const run = { id: nothing('tsk'), activity, done: false, state: {}, expected: 0 };
    await clientOf('reader').master().saveRun(run);
    const before = await headOf();
    await expect(clientOf('stranger').master().saveRun(run)).rejects.toMatchObject({
      code: 'not-found',
    });
    expect(await clientOf('stranger').master().loadRun(run.id)).toBeUndefined();
    expect(await clientOf('stranger').master().openRuns()).toEqual([]);
    expect(await clientOf('reader').master().openRuns()).toEqual([run.id]);
    expect(await headOf()).toBe(before);
  });

  it('needs a token besides the key to be read as content', async () => {
    const uri = `${served.url}/content/${there.content.real}`;
    const token = await clientOf('reader')
      .master()
      .readToken({ uris: [uri], audience: 'stranger', seconds: 60 });
    const read = await clientOf('stranger').agent().getContent(uri, token);
    const hash = createHash('sha256').update(read.bytes).digest('hex');
    expect(hash).toBe(createHash('sha256').update('content of Priya').digest('hex'));
    await expect(clientOf('intruder').agent().getContent(uri, token)).rejects.toMatchObject({
      code: 'not-found',
    });
  });
});

describe('keys', () => {
  it('are made, listed and ended by operators of the tenant alone', async () => {
    for (const person of ['priya', 'reader'] as const) {
      await expect(clientOf(person).createKey({ principal: people.priya })).rejects.toMatchObject({
        code: 'not-found',
      });
      await expect(clientOf(person).keys()).rejects.toMatchObject({ code: 'not-found' });
    }
    const made = await clientOf('operator').createKey({
      principal: people.stranger,
      label: 'spare',
    });
    const spare = new HubClient({ url: served.url, key: made.key });
    expect(await spare.whoAmI()).toEqual(people.stranger);
    await clientOf('operator').revokeKey(made.id);
    await expect(spare.whoAmI()).rejects.toMatchObject({ code: 'unauthenticated' });
    const listed = (await clientOf('operator').keys()).find(({ id }) => id === made.id);
    expect(listed).toMatchObject({ label: 'spare', revoked: true });
    expect(JSON.stringify(await clientOf('operator').keys())).not.toContain('tlk_');
  });
});
