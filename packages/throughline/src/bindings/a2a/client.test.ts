import { randomUUID } from 'node:crypto';
import { AgentCard, TaskState } from '@a2a-js/sdk';
import {
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { correlationExtension } from '../../model/envelope.ts';
import { agentCard } from './card.ts';
import type { A2aClient, ConnectA2aOptions } from './client.ts';
import { alice, echo, gate, MemoryPorts, Scripted, startAgent } from './conformance.ts';
import { markKey } from './marks.ts';
import { plainServer, sse } from './conformance/peer.ts';
import { start } from './conformance/started.ts';
import { connectA2a } from './connect.ts';
import type { PeerTask } from './peer-task.ts';
import { withTrace } from '../../telemetry/trace.ts';

const self = { kind: 'agent', name: 'Desk', principal: 'desk' } as const;
const fast = { attempts: 4, firstMs: 5, capMs: 20 };
const connect = async (options: Partial<ConnectA2aOptions>): Promise<A2aClient> => {
  const client = await connectA2a({ self, retry: fast, ...options });
  onTestFinished(() => client.close());
  return client;
};
const say = (text: string): { parts: { kind: 'text'; text: string }[] } => ({
  parts: [{ kind: 'text', text }],
});

const raw = async (...args: Parameters<typeof plainServer>): Promise<string> => {
  const { url, close } = await plainServer(...args);
  onTestFinished(close);
  return url;
};

/** A bare SDK server: no extension, no key, nothing of ours. */
async function bare(streaming: boolean): Promise<{ url: string; executor: Scripted }> {
  const executor = new Scripted(echo);
  const { promise, resolve } = Promise.withResolvers<JsonRpcTransportHandler>();
  const card = (url: string): AgentCard =>
    agentCard({ name: 'Bare', description: '', version: '1', url, streaming });
  const url = await raw(
    (body, out) => {
      void (async () => {
        const handler = await promise;
        const context = new ServerCallContext({ requestedVersion: '1.0' });
        const result = await handler.handle({ ...body, jsonrpc: '2.0' }, context);
        if (!(Symbol.asyncIterator in result)) {
          out.setHeader('content-type', 'application/json').end(JSON.stringify(result));
          return;
        }
        out.setHeader('content-type', 'text/event-stream');
        for await (const event of result) out.write(`data: ${JSON.stringify(event)}\n\n`);
        out.end();
      })();
    },
    (at) => AgentCard.toJSON(card(at)),
  );
  const inner = new DefaultRequestHandler(card(url), new InMemoryTaskStore(), executor);
  resolve(new JsonRpcTransportHandler(inner));
  return { url, executor };
}

const working = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } };
const completed = { ...working, status: { state: 'TASK_STATE_COMPLETED' } };

describe('our client with our server', () => {
  it('sends, follows, reads, lists and cancels', async () => {
    const door = gate();
    const { url, keys } = await start(
      new Scripted(
        async (desk) => {
          desk.task();
          desk.artifact('a', 'part one, ');
          if (desk.context.userMessage.contextId === '') await door.passed;
          desk.artifact('a', 'part two', true);
          desk.status(TaskState.TASK_STATE_COMPLETED, 'there you are');
        },
        () => Promise.resolve(),
      ),
    );
    const client = await connect({ url, credential: keys.alice });
    expect(client.declaresCorrelation).toBe(true);
    const updates: PeerTask[] = [];
    const task = await client.send(say('go'), { onUpdate: (update) => updates.push(update) });
    expect(task).toMatchObject({
      state: 'completed',
      text: 'there you are',
      outputs: [{ id: 'a', parts: [{ text: 'part one, ' }, { text: 'part two' }] }],
    });
    expect(updates.map(({ state }) => state)).toEqual([
      'in-progress',
      'in-progress',
      'in-progress',
      'completed',
    ]);
    const id = task.taskId ?? '';
    expect(await client.getTask(id)).toMatchObject({ taskId: id, state: 'completed' });
    const again: PeerTask[] = [];
    for await (const update of client.follow(id)) again.push(update);
    expect(again).toMatchObject([{ taskId: id, state: 'completed' }]);
    const { contextId } = task;
    expect(await client.listTasks({ contextId, state: 'completed' })).toMatchObject({ total: 1 });
    await expect(client.cancel(id)).rejects.toMatchObject({ code: 'terminal' });
    await expect(client.getTask(randomUUID())).rejects.toMatchObject({ code: 'not-found' });
    const elsewhere = client.send({ ...say('x'), contextId: 'ctx_unknown' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'context-refused', retryable: false });
  });

  it('attaches the envelope, and both sides tell of one exchange', async () => {
    const { url, keys, ports } = await start(echo);
    const seen = new MemoryPorts();
    const client = await connect({
      url,
      credential: keys.alice,
      ports: seen,
      caller: { principal: alice },
    });
    const place = {
      activity: `act_${'0'.repeat(26)}`,
      dialog: `dlg_${'0'.repeat(26)}`,
      task: `tsk_${'0'.repeat(26)}`,
    };
    const envelope = {
      v: 1 as const,
      ...place,
      manifest: { resources: 0, relationships: 0, assertions: 0 },
    };
    const task = await client.send({ ...say('go'), envelope }, { place });
    expect(ports.seen('message')[0]?.envelope).toEqual(envelope);
    expect(seen.observations.map((o) => [o.kind, o.side, o.contextId])).toEqual([
      ['message', 'client', task.contextId],
      ['task', 'client', task.contextId],
      ['artifact', 'client', task.contextId],
      ['task', 'client', task.contextId],
    ]);
    expect(seen.seen('message')[0]).toMatchObject({
      endpoint: url,
      taskId: task.taskId,
      envelope: place,
      client: self,
      server: { name: 'Clerk', url },
    });
    const digests = [ports, seen].map((each) => each.seen('artifact')[0]?.resource.digest);
    expect(new Set(digests).size).toBe(1);
  });

  it('carries the trace of the call it works for within its domain, and not beyond', async () => {
    const headers: Record<string, unknown>[] = [];
    const url = await raw((body, out, got) => {
      headers.push(got);
      sse(out, body.id, { task: completed });
      out.end();
    });
    const client = await connect({ url, carriesTrace: true });
    const trace = {
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      tracestate: 'a=b',
    };
    await withTrace(trace, () => client.send(say('x')));
    expect(headers[0]).toMatchObject(trace);
    const stranger = await connect({ url });
    await withTrace(trace, () => stranger.send(say('x')));
    expect(headers.at(-1)).not.toHaveProperty('traceparent');
    expect(headers.at(-1)).not.toHaveProperty('tracestate');
  });
});

describe('our client with an agent that never heard of us', () => {
  it.each([true, false])('works, without an envelope (streaming: %s)', async (streaming) => {
    const { url, executor } = await bare(streaming);
    const seen = new MemoryPorts();
    const client = await connect({ url, ports: seen, caller: { principal: alice } });
    expect(client.declaresCorrelation).toBe(false);
    const place = { dialog: `dlg_${'0'.repeat(26)}` };
    const task = await client.send({ ...say('hi'), envelope: { v: 1, ...place } }, { place });
    expect(task).toMatchObject({ state: 'completed', outputs: [{ parts: [{ text: 'hi' }] }] });
    const got = executor.requests[0]?.userMessage;
    expect([got?.metadata, got?.extensions]).toEqual([undefined, []]);
    expect(seen.seen('message')[0]).toMatchObject({ envelope: place, contextId: task.contextId });
  });

  it('takes a reply by message alone for a task that is done', async () => {
    const reply = { messageId: 'r1', role: 'ROLE_AGENT', parts: [{ text: 'four' }] };
    const url = await raw((body, out) => {
      sse(out, body.id, { message: reply });
      out.end();
    });
    const seen = new MemoryPorts();
    const client = await connect({ url, ports: seen, caller: { principal: alice } });
    const task = await client.send(say('2+2'));
    expect(task).toMatchObject({ state: 'completed', text: 'four', contextId: 'r1', outputs: [] });
    expect(task.taskId).toBeUndefined();
    expect(seen.observations.map(({ kind }) => kind)).toEqual(['message', 'task']);
  });

  it('polls one that does not stream and answers before it is done', async () => {
    let asked = 0;
    const url = await raw(
      (body, out) => {
        const result =
          body.method === 'SendMessage' ? { task: working } : ++asked < 2 ? working : completed;
        out.setHeader('content-type', 'application/json');
        out.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result }));
      },
      (at) =>
        AgentCard.toJSON(
          agentCard({ name: 'P', description: '', version: '1', url: at, streaming: false }),
        ),
    );
    const client = await connect({ url });
    expect(await client.send(say('x'))).toMatchObject({ taskId: 't1', state: 'completed' });
  });
});

describe('a connection that breaks', () => {
  it('is no end: the task is taken up again', async () => {
    const methods: string[] = [];
    const url = await raw((body, out) => {
      methods.push(body.method);
      sse(out, body.id, { task: methods.length === 1 ? working : completed });
      if (methods.length === 1) setImmediate(() => out.destroy());
      else out.end();
    });
    const client = await connect({ url });
    expect(await client.send(say('x'))).toMatchObject({ state: 'completed' });
    expect(methods).toEqual(['SendStreamingMessage', 'SubscribeToTask']);
  });

  it('is taken up after the last update that came, of a peer that numbers them', async () => {
    const cursors: unknown[] = [];
    const url = await raw(({ id, method }, out, headers) => {
      cursors.push([method, headers['last-event-id']]);
      if (cursors.length < 3) {
        const metadata = cursors.length === 1 ? { [markKey]: { seq: 7 } } : {};
        sse(out, id, { task: { ...working, metadata } });
        setImmediate(() => out.destroy());
      } else if (cursors.length === 3) {
        const error = { code: -32_602, message: 'ahead of the task' };
        out.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      } else {
        sse(out, id, { task: completed });
        out.end();
      }
    });
    const client = await connect({ url });
    expect(await client.send(say('x'))).toMatchObject({ state: 'completed' });
    expect(cursors).toEqual([
      ['SendStreamingMessage', undefined],
      ['SubscribeToTask', '7'],
      ['SubscribeToTask', '7'],
      ['SubscribeToTask', undefined],
    ]);
  });

  it('is no end either when the stream just stops', async () => {
    const url = await raw((body, out) => {
      sse(out, body.id, { task: working });
      out.end();
    });
    const client = await connect({ url });
    const states: string[] = [];
    const sent = client.send(say('x'), { onUpdate: ({ state }) => states.push(state) });
    await expect(sent).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
      details: { cut: true },
    });
    expect(new Set(states)).toEqual(new Set(['in-progress']));
  });

  it('before anything came: the message is not sent twice to an agent that would do it twice', async () => {
    let calls = 0;
    const url = await raw((_, out) => {
      calls += 1;
      out.destroy();
    });
    const client = await connect({ url });
    await expect(client.send(say('x'))).rejects.toMatchObject({
      retryable: true,
      details: { sent: 'unknown' },
    });
    expect(calls).toBe(1);
  });

  it('before anything came: the same message goes again to one that knows it by its id', async () => {
    const ids: unknown[] = [];
    const url = await raw(
      ({ id, params }, out) => {
        ids.push(Object(params['message']).messageId);
        if (ids.length < 3) out.destroy();
        else {
          sse(out, id, { task: completed });
          out.end();
        }
      },
      (at) => {
        const json = Object(
          AgentCard.toJSON(agentCard({ name: 'P', description: '', version: '1', url: at })),
        );
        return {
          ...json,
          capabilities: { streaming: true, extensions: [{ uri: correlationExtension }] },
        };
      },
    );
    const client = await connect({ url });
    expect(await client.send(say('x'))).toMatchObject({ state: 'completed' });
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  it('to where nobody listens is tried again, then said', async () => {
    const { url, served } = await startAgent(echo);
    const card = agentCard({ name: 'P', description: '', version: '1', url });
    await served.close(10);
    const client = await connect({ card });
    await expect(client.send(say('x'))).rejects.toMatchObject({
      code: 'unavailable',
      details: { sent: 'no' },
    });
  });

  it('ends with its time, and leaves the task alone', async () => {
    const door = gate();
    const { url, keys, ports } = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const client = await connect({ url, credential: keys.alice });
    const sent = client.send(say('x'), { timeoutMs: 100 });
    await expect(sent).rejects.toMatchObject({ code: 'timeout' });
    door.open();
    while ([...ports.records.values()][0]?.state !== 'completed') await new Promise(setImmediate);
  });
});

describe('what can’t be recorded', () => {
  it('fails the call, unless somebody is told of it', async () => {
    const { url, keys } = await start(echo);
    const ports = { observe: () => Promise.reject(new Error('no disk')) };
    const options = { url, credential: keys.alice, ports, caller: { principal: alice } };
    const strict = await connect(options);
    await expect(strict.send(say('x'))).rejects.toThrow('no disk');
    const faults: unknown[] = [];
    const lenient = await connect({ ...options, onFault: (error) => faults.push(error) });
    expect(await lenient.send(say('x'))).toMatchObject({ state: 'completed' });
    expect(faults).toMatchObject([{ message: 'no disk' }]);
  });
});

describe('what an agent reports', () => {
  it.each([
    [
      { code: -32_001, message: 'x' },
      { code: 'not-found', retryable: false },
    ],
    [{ code: -32_004, message: 'x' }, { code: 'unsupported' }],
    [{ code: -32_602, message: 'x', data: 'whatever' }, { code: 'invalid' }],
    [
      { code: -32_602, message: 'x', data: [{ metadata: { code: 'nonsense' } }] },
      { code: 'invalid' },
    ],
    [
      { code: -32_603, message: 'x' },
      { code: 'internal', retryable: false },
    ],
    [{ code: -32_000, message: 'x' }, { code: 'unauthenticated' }],
    [
      { code: -32_603, message: 'x', data: [{ metadata: { code: 'timeout', retryable: 'true' } }] },
      { code: 'timeout', retryable: true },
    ],
  ])('%j is one of our errors', async (error, expected) => {
    for (const streamed of [false, true]) {
      const url = await raw((body, out) => {
        const text = JSON.stringify({ jsonrpc: '2.0', id: body.id, error });
        out.setHeader('content-type', streamed ? 'text/event-stream' : 'application/json');
        out.end(streamed ? `event: error\ndata: ${text}\n\n` : text);
      });
      const client = await connect({ url, retry: { attempts: 1, firstMs: 1, capMs: 1 } });
      await expect(client.send(say('x'))).rejects.toMatchObject(expected);
    }
  });
});
