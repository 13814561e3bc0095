import { TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { correlationExtension } from '../../model/envelope.ts';
import { gate, wireMessage, type Desk } from './conformance.ts';
import { type Agent, start } from './conformance/started.ts';
import { History } from './history.ts';
import { markKey } from './marks.ts';

interface Event {
  readonly id: number | undefined;
  readonly kind: string;
  readonly mark: unknown;
  readonly value: Record<string, unknown>;
}

const readEvents = (text: string): Event[] =>
  text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => {
      const id = /^id: (\d+)$/m.exec(block)?.[1];
      const data: { result?: Record<string, Record<string, unknown>> } = JSON.parse(
        /^data: (.*)$/m.exec(block)?.[1] ?? '{}',
      );
      const [kind = 'error', value = {}] = Object.entries(data.result ?? {})[0] ?? [];
      const metadata = Object(value['metadata']);
      return {
        id: id === undefined ? undefined : Number(id),
        kind,
        mark: metadata[markKey],
        value,
      };
    });

async function subscribe(agent: Agent, headers: Record<string, string> = {}): Promise<Response> {
  const [id] = [...agent.ports.records.keys()];
  return fetch(agent.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: agent.keys.alice,
      'a2a-version': '1.0',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } }),
  });
}

/** An agent that has put out three chunks and waits at a door before its end. */
async function waiting(): Promise<{ agent: Agent; open: () => void }> {
  const door = gate();
  // What comes while a write is under way goes into the next one together.
  const written = async (version: number): Promise<void> => {
    while ([...agent.ports.records.values()][0]?.version !== version)
      await new Promise(setImmediate);
  };
  const agent: Agent = await start(async (desk: Desk) => {
    desk.task();
    await written(1);
    desk.artifact('a', 'one');
    await written(2);
    desk.artifact('a', 'two', true);
    await written(3);
    desk.artifact('a', 'three', true);
    await door.passed;
    desk.status(TaskState.TASK_STATE_COMPLETED);
  });
  void fetch(agent.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: agent.keys.alice,
      'a2a-version': '1.0',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: wireMessage('x'), configuration: { returnImmediately: true } },
    }),
  });
  await written(4);
  return { agent, open: () => door.open() };
}

describe('a reader that comes back with the number of its last event', () => {
  it('gets exactly what it missed, then what comes', async () => {
    const { agent, open: go } = await waiting();
    const response = await subscribe(agent, { 'last-event-id': '2' });
    go();
    const events = readEvents(await response.text());
    expect(events.map(({ id, kind, mark }) => [id, kind, mark])).toEqual([
      [3, 'artifactUpdate', { seq: 3, after: 2 }],
      [4, 'artifactUpdate', { seq: 4, after: 3 }],
      [5, 'statusUpdate', { seq: 5, after: 4 }],
    ]);
    expect(events[0]?.value).toMatchObject({
      append: true,
      artifact: { parts: [{ text: 'two' }] },
    });
  });

  it('gets the task as it stands when it missed nothing, so that the stream begins', async () => {
    const { agent, open: go } = await waiting();
    const response = await subscribe(agent, { 'last-event-id': '4' });
    go();
    const events = readEvents(await response.text());
    expect(events.map(({ id, kind, mark }) => [id, kind, mark])).toEqual([
      [4, 'task', { seq: 4 }],
      [5, 'statusUpdate', { seq: 5, after: 4 }],
    ]);
  });

  it('is told which events it gets in sum only, after a restart', async () => {
    const { agent } = await waiting();
    const { ports, keys } = agent;
    await agent.served.close(0);
    const door = gate();
    const next = await start(
      async (desk) => {
        await door.passed;
        desk.status(TaskState.TASK_STATE_COMPLETED);
      },
      { ports },
    );
    const again = { ...next, keys };
    const response = await subscribe(again, { 'last-event-id': '2' });
    door.open();
    const events = readEvents(await response.text());
    expect(events[0]).toMatchObject({
      id: 4,
      kind: 'task',
      mark: { seq: 4, gap: { from: 3, to: 4 } },
      value: { artifacts: [{ parts: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] }] },
    });
    expect(events.at(-1)).toMatchObject({ kind: 'statusUpdate' });
  });

  it.each([
    ['ahead of the task', '99'],
    ['no number', 'abc'],
    ['negative', '-1'],
  ])('is refused when that is %s', async (_what, cursor) => {
    const { agent, open: go } = await waiting();
    const response = await subscribe(agent, { 'last-event-id': cursor });
    expect(await response.json()).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining('Last-Event-ID') },
    });
    go();
  });
});

describe('marks', () => {
  it('are in the metadata for those who ask for the extension, and for nobody else', async () => {
    const { agent, open: go } = await waiting();
    const [plain, asked] = await Promise.all([
      subscribe(agent),
      subscribe(agent, { 'a2a-extensions': correlationExtension }),
    ]);
    go();
    const [without, withMarks] = [readEvents(await plain.text()), readEvents(await asked.text())];
    expect(without.map(({ id, mark }) => [id, mark])).toEqual([
      [4, undefined],
      [5, undefined],
    ]);
    expect(withMarks.map(({ mark }) => mark)).toEqual([{ seq: 4 }, { seq: 5, after: 4 }]);
  });

  it('of a task that another process works on say what came in between', async () => {
    const { agent } = await waiting();
    const { ports, keys } = agent;
    // It finds nothing to take up, so that this process has no work of its own on the task.
    ports.listTasks = () => Promise.resolve({ tasks: [], total: 0 });
    const other = await start(() => undefined, { ports });
    const elsewhere = { ...other, keys };
    const response = await subscribe(elsewhere);
    const [record] = [...ports.records.values()];
    if (record === undefined) throw new Error('no record');
    const body = structuredClone(Object(record.body));
    body.status = { ...body.status, state: 'TASK_STATE_COMPLETED' };
    ports.records.set(record.id, { ...record, body, state: 'completed', version: 7 });
    const events = readEvents(await response.text());
    expect(events.map(({ kind, mark }) => [kind, mark])).toEqual([
      ['task', undefined],
      ['statusUpdate', undefined],
    ]);
    expect(events.map(({ id }) => id)).toEqual([4, 7]);
  });
});

const update = (text: string) => ({
  payload: {
    $case: 'artifactUpdate' as const,
    value: {
      taskId: 't',
      contextId: 'c',
      append: true,
      lastChunk: false,
      metadata: undefined,
      artifact: {
        artifactId: 'a',
        name: '',
        description: '',
        metadata: undefined,
        extensions: [],
        parts: [
          {
            content: { $case: 'text' as const, value: text },
            metadata: undefined,
            filename: '',
            mediaType: '',
          },
        ],
      },
    },
  },
});

describe('the latest events of a task', () => {
  it('are kept within bounds of number and size; older ones are a gap', () => {
    const history = new History(0);
    for (let seq = 1; seq <= 1_000; seq++) history.add(seq, [update('x')]);
    expect(history.since(1_000)).toEqual([]);
    expect(history.since(744)).toHaveLength(256);
    expect(history.since(743)).toBeUndefined();
    const large = new History(0);
    for (let seq = 1; seq <= 8; seq++) large.add(seq, [update('x'.repeat(1_500_000))]);
    expect(large.since(6)).toHaveLength(2);
    expect(large.since(1)).toBeUndefined();
  });

  it('skip writes that show nothing, and state those of others', () => {
    const history = new History(0);
    history.add(1, [update('a')]);
    history.add(2, []);
    expect(history.add(3, [update('b')])[0]?.mark).toEqual({ seq: 3, after: 1 });
    expect(history.add(6, [update('c')])[0]?.mark).toEqual({
      seq: 6,
      after: 3,
      gap: { from: 4, to: 5 },
    });
    expect(history.since(3)).toBeUndefined();
    expect(history.since(5)).toHaveLength(1);
  });
});
