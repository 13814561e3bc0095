import { TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { correlationExtension } from '../../model/envelope.ts';
import { echo, gate, rpc } from './conformance.ts';
import { type Agent, start } from './conformance/started.ts';

const message = (text: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  kind: 'message',
  role: 'user',
  messageId: crypto.randomUUID(),
  parts: [{ kind: 'text', text }],
  ...more,
});

/** A call as clients of A2A 0.3 make it: they name no version. */
const old = (
  { url, keys }: Agent,
  method: string,
  params: unknown,
  key: keyof Agent['keys'] | 'nobody' = 'alice',
  headers: Record<string, string> = {},
) =>
  rpc(url, key === 'nobody' ? undefined : keys[key], method, params, {
    'a2a-version': '',
    ...headers,
  });

describe('a client of A2A 0.3', () => {
  it('finds its card, sends, reads and cancels, by the same rules', async () => {
    const agent = await start(echo);
    const found = await fetch(new URL('.well-known/agent.json', agent.url));
    expect(await found.json()).toMatchObject({
      name: 'Clerk',
      protocolVersion: '0.3',
      url: agent.url,
      preferredTransport: 'JSONRPC',
    });
    const sent = await old(agent, 'message/send', { message: message('hello') });
    const task = Object(sent.body.result);
    expect(task).toMatchObject({
      kind: 'task',
      contextId: expect.stringMatching(/^ctx_/),
      status: { state: 'completed' },
      artifacts: [{ parts: [{ kind: 'text', text: 'hello' }] }],
    });
    const got = await old(agent, 'tasks/get', { id: task.id });
    expect(got.body.result).toMatchObject({ id: task.id, status: { state: 'completed' } });
    const over = await old(agent, 'tasks/cancel', { id: task.id });
    expect(over.body.error?.code).toBe(-32_002);
    expect(agent.ports.seen('message')).toHaveLength(1);
  });

  it('may name its version, and gets a card of that on request', async () => {
    const agent = await start(echo);
    const headers = { 'a2a-version': '0.3' };
    const found = await fetch(new URL('.well-known/agent-card.json', agent.url), { headers });
    expect(await found.json()).toMatchObject({ protocolVersion: '0.3' });
    const sent = await old(agent, 'message/send', { message: message('x') }, 'alice', headers);
    expect(sent.body.result).toMatchObject({ kind: 'task' });
  });

  it('streams', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const response = await fetch(agent.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: agent.keys.alice },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 5,
        method: 'message/stream',
        params: { message: message('x') },
      }),
    });
    door.open();
    const text = await response.text();
    const kinds = [...text.matchAll(/"kind":"(task|status-update|artifact-update)"/g)];
    expect(kinds.map(([, kind]) => kind)).toEqual(['task', 'status-update']);
    expect(text).toContain('"id":5');
  });

  it('is admitted like any other: no identity, no other’s context, no other’s task', async () => {
    const agent = await start(echo);
    const { result } = (await old(agent, 'message/send', { message: message('x') })).body;
    const { id, contextId } = Object(result);
    const writes = [...agent.ports.writes];
    const nobody = await old(agent, 'message/send', { message: message('x') }, 'nobody');
    expect(nobody.status).toBe(401);
    const stolen = await old(
      agent,
      'message/send',
      { message: message('x', { contextId }) },
      'bob',
    );
    expect(stolen.body.error?.code).toBe(-32_602);
    const read = await old(agent, 'tasks/get', { id }, 'bob');
    const missing = await old(agent, 'tasks/get', { id: 'not-there' }, 'bob');
    expect(JSON.stringify(read.body).replaceAll(id, 'ID')).toBe(
      JSON.stringify(missing.body).replaceAll('not-there', 'ID'),
    );
    expect(agent.ports.writes).toEqual(writes);
  });

  it.each([
    ['no message', {}],
    ['parts that are none', { message: message('x', { parts: 'text' }) }],
    ['a part of no kind', { message: message('x', { parts: [{ text: 'x' }] }) }],
    ['an id that is no segment', { message: message('x', { messageId: '../victim' }) }],
    ['a context without end', { message: message('x', { contextId: 'c'.repeat(1_000) }) }],
    [
      'an envelope that is none',
      { message: message('x', { metadata: { [correlationExtension]: { v: 1, dialog: 5 } } }) },
    ],
  ])('is refused %s, by name, and nothing is written', async (_what, params) => {
    const agent = await start(echo);
    const answer = await old(agent, 'message/send', params);
    expect(answer.body.error?.code).toBe(-32_602);
    expect(answer.body.error?.message).not.toContain('Cannot read');
    expect(agent.ports.writes).toEqual([]);
    expect(agent.executor.runs).toBe(0);
  });

  it('is told that it has methods of its own', async () => {
    const agent = await start(echo);
    expect((await old(agent, 'SendMessage', {})).body.error?.code).toBe(-32_601);
    const now = { 'a2a-version': '1.0' };
    const late = await old(agent, 'message/send', { message: message('x') }, 'alice', now);
    expect(late.body.error?.code).toBe(-32_601);
  });
});
