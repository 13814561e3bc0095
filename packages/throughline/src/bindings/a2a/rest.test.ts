import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import { echo, gate, wireMessage } from './conformance.ts';
import { type Agent, start } from './conformance/started.ts';
import { findRoute, restRoutes } from './rest-routes.ts';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Record<string, unknown>;
}

async function ask(
  { url, keys }: Agent,
  path: string,
  init: RequestInit & { duplex?: 'half' } = {},
): Promise<Answer> {
  const headers = { authorization: keys.alice, 'a2a-version': '1.0' };
  const more = Object.fromEntries(new Headers(init.headers));
  const response = await fetch(url + path, { ...init, headers: { ...headers, ...more } });
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    body: text === '' ? {} : JSON.parse(text),
  };
}

const json = { 'content-type': 'application/json' };
const send = (agent: Agent, body: unknown, path = 'message:send'): Promise<Answer> =>
  ask(agent, path, { method: 'POST', headers: json, body: JSON.stringify(body) });

/** A body of unknown length. */
const inPieces = (text: string) => {
  const pieces = text.match(/.{1,500}/gs) ?? [];
  const body = Readable.toWeb(Readable.from(pieces.map((piece) => Buffer.from(piece))));
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      for await (const piece of body) controller.enqueue(piece);
      controller.close();
    },
  });
};

describe('the table of routes', () => {
  it.each(restRoutes.map((route) => [`${route.method} ${route.path} ${route.verb ?? ''}`, route]))(
    'finds %s, without a tenant and behind one',
    (_name, route) => {
      const ids = { task: 'id:with:colons', config: 'c' };
      const path = route.path.replace('{task}', ids.task).replace('{config}', ids.config);
      const whole = route.verb === undefined ? path : `${path}:${route.verb}`;
      const found = findRoute(route.method, whole);
      expect(found?.route).toBe(route);
      expect({ ...ids, ...found?.path }).toEqual(ids);
      const behind = findRoute(route.method, `/acme${whole}`);
      expect(behind?.route).toBe(route);
      expect(behind?.path['tenant']).toBe('acme');
    },
  );

  it.each([
    ['POST', '/tasks'],
    ['DELETE', '/tasks/x'],
    ['GET', '/tasks/x:cancel'],
    ['GET', '/tasks/'],
    ['GET', '/a/b/tasks'],
    ['POST', '/message:else'],
  ])('finds nothing for %s %s', (method, path) => {
    expect(findRoute(method, path)).toBeUndefined();
  });
});

describe('HTTP+JSON', () => {
  it('answers as A2A JSON, and what is empty is there', async () => {
    const agent = await start(echo);
    const sent = await send(agent, { message: wireMessage('hello') });
    expect(sent).toMatchObject({
      status: 200,
      type: 'application/a2a+json',
      body: { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
    });
    const list = await ask(
      agent,
      'tasks?pageSize=5&includeArtifacts=true&status=TASK_STATE_WORKING',
    );
    expect(list.body).toEqual({ tasks: [], nextPageToken: '', pageSize: 5, totalSize: 0 });
  });

  it('says with 429 and Retry-After that a limit is reached', async () => {
    const agent = await start(echo);
    const details = { retryAfterSeconds: 40 };
    agent.ports.admit = () =>
      Promise.reject(new ThroughlineError('quota', 'no more this minute', { details }));
    for (const path of ['message:send', 'v1/message:send']) {
      const isOld = path.startsWith('v1');
      const { parts, ...rest } = wireMessage('x');
      const response = await fetch(agent.url + path, {
        method: 'POST',
        headers: { ...json, authorization: agent.keys.alice, 'a2a-version': isOld ? '0.3' : '1.0' },
        body: JSON.stringify({ message: isOld ? { ...rest, content: parts } : { ...rest, parts } }),
      });
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '40']);
      expect(await response.text()).toContain('no more this minute');
    }
  });

  it('takes the version from the query where no header names one', async () => {
    const agent = await start(echo);
    const headers = { 'a2a-version': '' };
    expect((await ask(agent, 'tasks', { headers })).status).toBe(400);
    expect((await ask(agent, 'tasks?A2A-Version=1.0', { headers })).status).toBe(200);
    expect((await ask(agent, 'tasks?A2A-Version=0.3')).status).toBe(200);
    const other = await ask(agent, 'tasks?A2A-Version=2.0', { headers });
    expect(JSON.stringify(other.body)).toContain('VERSION_NOT_SUPPORTED');
  });

  it.each([
    ['contextId', 'context_id=ctx_1&contextId=ctx_2'],
    ['pageSize', 'page_size=1000'],
    ['pageSize', 'pageSize=0'],
    ['pageSize', 'pageSize=101'],
    ['pageSize', 'pageSize=5x'],
    ['pageSize', 'pageSize=-1'],
    ['pageSize', 'pageSize=1&pageSize=2'],
    ['historyLength', 'historyLength=999999999999'],
    ['historyLength', 'historyLength=1.5'],
    ['statusTimestampAfter', 'statusTimestampAfter=yesterday'],
    ['includeArtifacts', 'includeArtifacts=yes'],
    ['status', 'status=TASK_STATE_DONE'],
    ['contextId', `contextId=${'c'.repeat(1_000)}`],
  ])('names %s in the query %s as what is wrong', async (name, query) => {
    const agent = await start(echo);
    const { status, body } = await ask(agent, `tasks?${query}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: { code: 400, status: 'INVALID_ARGUMENT', message: expect.stringContaining(name) },
    });
  });

  it('gives at most what is there, however long a history is asked for', async () => {
    const agent = await start(echo);
    const sent = await send(agent, { message: wireMessage('x') });
    const id = String(Object(sent.body['task']).id);
    const answer = await ask(agent, `tasks/${id}?historyLength=999999999`);
    expect(Object(answer.body)['history']).toHaveLength(1);
  });

  it.each([
    ['..%2Fvictim', 400],
    ['..', 404],
    ['%00', 400],
    ['a%5Cb', 400],
    ['%', 404],
    ['not-there', 404],
  ])('takes a path for one segment: %s', async (id, status) => {
    const agent = await start(echo);
    expect((await ask(agent, `tasks/${id}`)).status).toBe(status);
  });

  it.each([
    ['not JSON', '{"message":', 400],
    ['a key twice', '{"message":{},"message":{}}', 400],
    ['a list', '[]', 400],
    ['nothing', '', 400],
    ['too deep', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, 400],
  ])('refuses a body that is %s', async (_what, body, status) => {
    const agent = await start(echo);
    const answer = await ask(agent, 'message:send', { method: 'POST', headers: json, body });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error: { details: [{ reason: 'INVALID_PARAMS' }] } });
    expect(agent.ports.writes).toEqual([]);
  });

  it('refuses a body of another type, and takes its own', async () => {
    const agent = await start(echo);
    const body = JSON.stringify({ message: wireMessage('x') });
    const as = (type: string) =>
      ask(agent, 'message:send', { method: 'POST', body, headers: { 'content-type': type } });
    expect(await as('text/plain')).toMatchObject({
      status: 400,
      body: { error: { details: [{ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }] } },
    });
    expect((await as('application/a2a+json; charset=utf-8')).status).toBe(200);
  });

  it('reads a body that comes in pieces, and no further than the limit', async () => {
    const agent = await start(echo, { bodyLimit: 10_000 });
    const post = (text: string) =>
      ask(agent, 'message:send', {
        method: 'POST',
        headers: json,
        duplex: 'half',
        body: inPieces(JSON.stringify({ message: wireMessage(text) })),
      });
    expect((await post('x'.repeat(2_000))).status).toBe(200);
    const answer = await post('x'.repeat(200_000));
    expect(answer).toMatchObject({
      status: 413,
      body: { error: { status: 'RESOURCE_EXHAUSTED' } },
    });
  });

  it('says who is missing with 401, and nothing else', async () => {
    const agent = await start(echo);
    for (const path of ['tasks', 'tasks/x', 'nothing/at/all', 'extendedAgentCard']) {
      const answer = await ask(agent, path, { headers: { authorization: 'Bearer nobody' } });
      expect(answer).toMatchObject({ status: 401, body: { error: { status: 'UNAUTHENTICATED' } } });
    }
  });

  it('refuses a tenant that is named in two ways, and a path’s that is not the caller’s', async () => {
    const agent = await start(echo);
    const message = wireMessage('x');
    expect((await send(agent, { message }, 'acme/message:send')).status).toBe(200);
    const twice = await send(agent, { message, tenant: 'globex' }, 'acme/message:send');
    expect(twice).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('tenant') } },
    });
    expect((await send(agent, { message }, 'globex/message:send')).status).toBe(404);
    expect((await ask(agent, 'globex/tasks')).status).toBe(404);
  });

  it('numbers the events of a stream, and subscribes by GET as by POST', async () => {
    const door = gate();
    const agent = await start(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const stream = fetch(`${agent.url}message:stream`, {
      method: 'POST',
      headers: { ...json, authorization: agent.keys.alice, 'a2a-version': '1.0' },
      body: JSON.stringify({ message: wireMessage('x') }),
    });
    while (agent.ports.records.size === 0) await new Promise(setImmediate);
    const [id] = [...agent.ports.records.keys()];
    const subscribed = ['GET', 'POST'].map((method) =>
      fetch(`${agent.url}tasks/${id}:subscribe`, {
        method,
        headers: { authorization: agent.keys.alice, 'a2a-version': '1.0' },
      }),
    );
    const responses = await Promise.all([stream, ...subscribed]);
    door.open();
    for (const response of responses) {
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      const text = await response.text();
      expect(text.match(/^id: \d+$/gm)).toEqual(['id: 1', 'id: 2']);
      expect(text).not.toContain('/mark');
    }
  });

  it('leaves a connection whose request never comes alone', async () => {
    const agent = await start(echo);
    const { port, hostname } = new URL(agent.url);
    const socket = connect(Number(port), hostname);
    socket.write('POST /message:send HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{');
    expect((await send(agent, { message: wireMessage('x') })).status).toBe(200);
    socket.destroy();
  });
});
