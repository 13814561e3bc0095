import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentWritable, type AgentContext } from '../model/agent-context.ts';
import { contentAccessKey } from '../model/content.ts';
import { returnedBy, saidBy, World, type WireTask } from './conformance.ts';
import type { AgentHandler, MessageHandler } from './handler.ts';

let world: World;

/** What an agent may not write. */
const rest = (all: AgentContext | undefined): unknown =>
  Object.fromEntries(
    Object.entries(all ?? {}).filter(([key]) => !agentWritable.some((each) => each === key)),
  );

beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const onMessage: MessageHandler = ({ text }) => ({ text: `You said: ${text}` });
const read: AgentHandler = async (context, io) => {
  const [item] = context.ContextItems;
  const notes = await io.fetch(item?.ContextID ?? '');
  await io.output('summary', 'text/plain', `${notes.text().length} characters`);
  await io.itemDone('one', `Read ${notes.text().length} characters`);
};

const policy = (Strategy: string) => (context: AgentContext) => ({
  ...context,
  CompressionPolicy: {
    Strategy,
    TargetRatio: 0.1,
    LossTolerance: 'low' as const,
    MustPreserveFields: [],
  },
});

describe('an agent that is served', () => {
  it('declares in its card that it takes AgentContexts', async () => {
    const { url } = await world.serve({ handler: read });
    const card = await (await fetch(new URL('.well-known/agent-card.json', url))).text();
    expect(card).toContain(contentAccessKey);
  });

  it('answers a plain message through its message handler', async () => {
    const { url } = await world.serve({ onMessage });
    const task = await world.send(url, [{ text: 'hello' }]);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(saidBy(task)).toBe('You said: hello');
  });

  it('reads its items, puts out by reference, and returns its own four fields alone', async () => {
    const { url } = await world.serve({ handler: read, onMessage });
    const { parts, metadata, context } = await world.handOver(url, 'Hello, notes.');
    const task = await world.send(url, parts, { metadata });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    const returned = returnedBy(task);
    expect(returned).toMatchObject({
      ItemStateUpdates: [{ itemID: 'one', state: 1 }],
      KeyInformation: [{ itemID: 'one', outputabstract: 'Read 13 characters' }],
      EvaluationResult: {
        Status: 'passed',
        CriterionResults: [{ CriterionID: 'read', Status: 'passed', EvidenceRefs: ['summary'] }],
      },
    });
    expect(rest(returned)).toEqual(rest(context));
    const summary = task.artifacts?.find(({ artifactId }) => artifactId === 'summary');
    const stored = await world.hub.master(world.desk).getContent(summary?.parts[0]?.url ?? '');
    expect(new TextDecoder().decode(stored.bytes)).toBe('13 characters');
  });

  it('puts out what is large by reference, whole, and tells only a little of it', async () => {
    const rows = 'one of many rows\n'.repeat(20_000);
    const { url } = await world.serve({
      onMessage,
      handler: async (_, io) => {
        await io.output('rows', 'text/plain', rows);
        await io.itemDone('one', `${rows.length} characters of rows`);
      },
    });
    const { parts, metadata } = await world.handOver(url, 'x');
    const task = await world.send(url, parts, { metadata });
    expect(JSON.stringify(task).length).toBeLessThan(10_000);
    const reference = task.artifacts?.find(({ artifactId }) => artifactId === 'rows');
    const uri = reference?.parts[0]?.url ?? '';
    const whole = await world.hub.master(world.desk).getContent(uri);
    expect(new TextDecoder().decode(whole.bytes)).toBe(rows);
  });

  it('keeps apart what is asked of it at the same time', async () => {
    const both = Promise.withResolvers<void>();
    let begun = 0;
    const { url } = await world.serve({
      onMessage,
      handler: async (context, io) => {
        if (++begun === 2) both.resolve();
        await both.promise;
        const notes = (await io.fetch(context.ContextItems[0]?.ContextID ?? '')).text();
        await io.output('summary', 'text/plain', notes);
        await io.itemDone('one', notes);
      },
    });
    const texts = ['notes of Alice', 'notes of Bob'];
    const handed = await Promise.all(texts.map((notes) => world.handOver(url, notes)));
    const tasks = await Promise.all(
      handed.map(({ parts, metadata }) => world.send(url, parts, { metadata })),
    );
    const master = world.hub.master(world.desk);
    for (const [at, task] of tasks.entries()) {
      expect(returnedBy(task)?.KeyInformation[0]?.outputabstract).toBe(texts[at]);
      const summary = task.artifacts?.find(({ artifactId }) => artifactId === 'summary');
      const stored = await master.getContent(summary?.parts[0]?.url ?? '');
      expect(new TextDecoder().decode(stored.bytes)).toBe(texts[at]);
      expect(JSON.stringify(task)).not.toContain(texts[1 - at]);
    }
  });

  it('gets its texts reduced by the policy, and says which strategy it does not know', async () => {
    const got: unknown[] = [];
    const { url } = await world.serve({
      onMessage,
      handler: async (_, io) => {
        const { items, report } = await io.materials();
        got.push(
          items.map(({ text }) => text),
          report.missed,
        );
        await io.itemDone('one', 'x');
      },
    });
    const known = await world.handOver(url, 'one two three', policy('target_ratio'));
    await world.send(url, known.parts, { metadata: known.metadata });
    expect(got).toEqual([['one two three'], expect.stringMatching(/^3 tokens over/)]);
    const unknown = await world.handOver(url, 'one two three', policy('magic'));
    const task = await world.send(url, unknown.parts, { metadata: unknown.metadata });
    expect(saidBy(task)).toMatch(/“magic” is not known/);
  });

  it('takes the rights from its part, too', async () => {
    const { url } = await world.serve({ handler: read, onMessage });
    const { parts, metadata } = await world.handOver(url, 'Hello, notes.');
    const inPart = parts.map((part) => ({ ...Object(part), metadata }));
    expect((await world.send(url, inPart)).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('makes its evaluation from the handler’s findings', async () => {
    const { url } = await world.serve({
      onMessage,
      handler: async (_, io) => {
        await io.itemDone('one', 'Read half');
        return {
          confidence: 0.4,
          criteria: [{ id: 'read', passed: false, evidence: ['page 1'] }],
          failure: 'The second half is blank',
        };
      },
    });
    const { parts, metadata } = await world.handOver(url, 'x');
    expect(returnedBy(await world.send(url, parts, { metadata }))?.EvaluationResult).toEqual({
      Status: 'failed',
      Confidence: 0.4,
      CriterionResults: [
        { CriterionID: 'read', Status: 'failed', EvidenceRefs: ['page 1'], TraceRefs: [] },
      ],
      FailureReason: 'The second half is blank',
    });
  });
});

const ended = async (
  handler: AgentHandler,
  change?: (context: AgentContext) => AgentContext,
  access?: (metadata: Record<string, unknown>) => Record<string, unknown>,
): Promise<WireTask> => {
  const { url } = await world.serve({ handler, onMessage });
  const { parts, metadata } = await world.handOver(url, 'Hello', change);
  return world.send(url, parts, { metadata: access?.(metadata) ?? metadata });
};

/** JSON has no word for it. */
const revived = (key: string, value: unknown): unknown =>
  key === 'confidence' && value === null ? Number.NaN : value;

const foreign: AgentHandler = async (_, io) => {
  await io.fetch('res_00000000000000000000000000');
};

describe('an agent refuses', () => {
  it('an AgentContext that is addressed to somebody else, before its handler sees it', async () => {
    let calls = 0;
    const task = await ended(
      () => {
        calls += 1;
      },
      (context) => ({ ...context, AgentID: 'other' }),
    );
    expect(task.status.state).toBe('TASK_STATE_REJECTED');
    expect(saidBy(task)).toMatch(/^AgentID: this AgentContext is for another agent/);
    expect(calls).toBe(0);
  });

  it('an AgentContext that is malformed', async () => {
    const task = await ended(read, (context) => ({ ...context, todoItems: JSON.parse('"none"') }));
    expect(task.status.state).toBe('TASK_STATE_REJECTED');
    expect(saidBy(task)).toMatch(/todoItems/);
  });

  it('a plain message when it has no handler for one', async () => {
    const { url } = await world.serve({ handler: read });
    const task = await world.send(url, [{ text: 'hello' }]);
    expect(task.status.state).toBe('TASK_STATE_REJECTED');
  });

  it('to read what it was not handed, or without the right to', async () => {
    expect(saidBy(await ended(foreign))).toMatch(/There is no item res_0/);
    const noRight = await ended(read, undefined, () => ({}));
    expect(saidBy(noRight)).toMatch(/There is no item/);
  });

  it('content that is not what was handed over', async () => {
    const { url } = await world.serve({
      handler: read,
      onMessage,
      ports: world.ports({
        getContent: () =>
          Promise.resolve({ mediaType: 'text/plain', bytes: new TextEncoder().encode('HELLO') }),
      }),
    });
    const { parts, metadata } = await world.handOver(url, 'Hello');
    const task = await world.send(url, parts, { metadata });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(saidBy(task)).toMatch(/is not what was handed over/);
  });

  it('to call an item done that it does not have', async () => {
    const task = await ended((_, io) => io.itemDone('two', 'x'));
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(saidBy(task)).toMatch(/There is no item two/);
  });

  it.each<[string, (context: AgentContext) => Partial<AgentContext>]>([
    ['ContextItems', ({ ContextItems: all }) => ({ ContextItems: [...all, ...all] })],
    ['todoItems', ({ todoItems: all }) => ({ todoItems: [...all, ...all] })],
  ])('an AgentContext whose %s have one id twice', async (field, change) => {
    const task = await ended(read, (context) => ({ ...context, ...change(context) }));
    expect(task.status.state).toBe('TASK_STATE_REJECTED');
    expect(saidBy(task)).toBe(`${field}: an id is there twice; give each its own.`);
  });

  it.each<[string, unknown]>([
    ['a confidence above 1', { confidence: 7 }],
    ['a confidence that is no number', { confidence: Number.NaN }],
    ['evidence that is no list', { criteria: [{ id: 'read', passed: true, evidence: 'all' }] }],
    ['a verdict in words', { criteria: [{ id: 'read', passed: 'yes', evidence: [] }] }],
    ['a word', 'done'],
  ])('to return %s, and tells its operator', async (_, result) => {
    const task = await ended(() => JSON.parse(JSON.stringify(result), revived));
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(returnedBy(task)?.EvaluationResult).toMatchObject({ Status: 'failed', Confidence: 0 });
    expect(String(world.faults[0])).toMatch(/What the handler gave back is not usable/);
  });

  it('to tell of an item what is no text, or has no end', async () => {
    const number = await ended((_, io) => io.itemDone('one', JSON.parse('42')));
    expect(number.status.state).toBe('TASK_STATE_FAILED');
    const endless = await ended((_, io) => io.itemDone('one', 'x'.repeat(50_000_000)));
    expect(saidBy(endless)).toMatch(/put out what is long, and tell its gist/);
    expect(returnedBy(endless)?.KeyInformation).toEqual([]);
  });

  it('to put out what is neither text nor bytes', async () => {
    const task = await ended(async (_, io) => {
      await io.output('table', 'application/json', JSON.parse('{"rows":[]}'));
    });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(String(world.faults[0])).toMatch(/The content of output table is not usable/);
  });

  it('to answer a message with what is no answer', async () => {
    const { url } = await world.serve({ onMessage: () => JSON.parse('{"text": 5}') });
    const task = await world.send(url, [{ text: 'hello' }]);
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(String(world.faults[0])).toMatch(/The answer of the handler is not usable/);
  });

  it('to show a caller what broke inside', async () => {
    const task = await ended(() => {
      throw new Error('password is hunter2');
    });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('hunter2');
    expect(returnedBy(task)?.EvaluationResult).toMatchObject({ Status: 'failed' });
    expect(world.faults).toHaveLength(1);
  });
});

/** The first output is on record: what a process that dies now leaves behind. */
async function untilStored(url: string, id: string | undefined): Promise<void> {
  await expect
    .poll(async () => JSON.stringify(await world.call(url, 'GetTask', { id })))
    .toContain('"artifactId":"summary"');
}

describe('an agent that is started again', () => {
  it('runs the handler from its start and has each output once', async () => {
    let runs = 0;
    const { promise: begun, resolve: began } = Promise.withResolvers<void>();
    const handler: AgentHandler = async (_, io) => {
      runs += 1;
      await io.output('summary', 'text/plain', 'the same');
      if (!io.resumed) {
        began();
        await new Promise(() => undefined);
      }
      await io.itemDone('one', `run ${runs}`);
    };
    const first = await world.serve({ handler, onMessage });
    const { parts, metadata } = await world.handOver(first.url, 'Hello');
    const message = { messageId: 'm-1', role: 'ROLE_USER', parts, metadata };
    const begin = await world.call(first.url, 'SendMessage', {
      message,
      configuration: { returnImmediately: true },
    });
    await begun;
    await untilStored(first.url, begin.result?.task?.id);
    await first.stop();
    const second = await world.serve({ handler, onMessage });
    const task = await world.send(second.url, parts, { metadata, messageId: 'm-1' });
    expect(task.id).toBe(begin.result?.task?.id);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(runs).toBe(2);
    expect(task.artifacts?.map(({ artifactId }) => artifactId)).toEqual([
      'summary',
      'agent-context',
    ]);
    const view = await world.hub.caseView(world.desk, task.id);
    expect(view.resources.filter(({ name }) => name === 'summary')).toHaveLength(1);
  });

  it('stops when its task is cancelled', async () => {
    const { promise: begun, resolve: began } = Promise.withResolvers<void>();
    let stopped = false;
    const { url } = await world.serve({
      onMessage,
      handler: (_, io) =>
        new Promise((resolve) => {
          io.signal.addEventListener('abort', () => {
            stopped = true;
            resolve();
          });
          began();
        }),
    });
    const { parts, metadata } = await world.handOver(url, 'Hello');
    const begin = await world.call(url, 'SendMessage', {
      message: { messageId: 'm-2', role: 'ROLE_USER', parts, metadata },
      configuration: { returnImmediately: true },
    });
    await begun;
    await world.call(url, 'CancelTask', { id: begin.result?.task?.id });
    const { result } = await world.call(url, 'GetTask', { id: begin.result?.task?.id });
    expect(result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    expect(stopped).toBe(true);
  });
});
