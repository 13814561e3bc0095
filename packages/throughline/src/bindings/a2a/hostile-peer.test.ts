import { once } from 'node:events';
import { createServer } from 'node:http';
import { AgentCard } from '@a2a-js/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import type { A2aClient, ConnectA2aOptions } from './client.ts';
import { agentCard } from './card.ts';
import { connectA2a } from './connect.ts';
import { plainServer, sse } from './conformance/peer.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const raw = async (...args: Parameters<typeof plainServer>): Promise<string> => {
  const { url, close } = await plainServer(...args);
  closing.push(close);
  return url;
};
const self = { kind: 'agent', name: 'Desk' } as const;
const connect = async (options: Partial<ConnectA2aOptions>): Promise<A2aClient> => {
  const client = await connectA2a({
    self,
    retry: { attempts: 2, firstMs: 1, capMs: 1 },
    ...options,
  });
  closing.push(() => client.close());
  return client;
};
const say = (text: string): { parts: { kind: 'text'; text: string }[] } => ({
  parts: [{ kind: 'text', text }],
});
const working = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING' } };
const completed = { ...working, status: { state: 'TASK_STATE_COMPLETED' } };

describe('an agent behind a hub that is starting', () => {
  it('is asked again: problem details are not its own answer', async () => {
    let asked = 0;
    const url = await raw((body, out) => {
      asked += 1;
      if (asked === 1) {
        out.writeHead(503, { 'content-type': 'application/problem+json' });
        out.end(JSON.stringify({ title: 'The hub is not available', code: 'unavailable' }));
        return;
      }
      out.setHeader('content-type', 'application/json');
      out.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result: completed }));
    });
    const client = await connect({ url });
    expect(await client.getTask('t1')).toMatchObject({ state: 'completed' });
    expect(asked).toBe(2);
  });
});

describe('an agent that can’t be trusted', () => {
  it.each([
    [
      'a chunk of what never began',
      [
        { task: working },
        {
          artifactUpdate: {
            taskId: 't1',
            contextId: 'c1',
            append: true,
            artifact: { artifactId: 'a', parts: [{ text: 'x' }] },
          },
        },
      ],
    ],
    [
      'another task',
      [
        { task: working },
        {
          statusUpdate: {
            taskId: 't2',
            contextId: 'c1',
            status: { state: 'TASK_STATE_COMPLETED' },
          },
        },
      ],
    ],
    [
      'an update without a task',
      [
        {
          statusUpdate: {
            taskId: 't1',
            contextId: 'c1',
            status: { state: 'TASK_STATE_COMPLETED' },
          },
        },
      ],
    ],
    ['an id that is a path', [{ task: { ...completed, id: '../../x' } }]],
    [
      'a context id of a thousand characters',
      [{ task: { ...completed, contextId: 'c'.repeat(1_000) } }],
    ],
    ['nothing in an update', [{}]],
  ])('is refused when it answers with %s', async (_, results) => {
    const url = await raw((body, out) => {
      sse(out, body.id, ...results);
      out.end();
    });
    const client = await connect({ url });
    await expect(client.send(say('x'))).rejects.toMatchObject({
      code: 'invalid',
      retryable: false,
    });
  });

  it('is refused when it answers in another context than it was asked in', async () => {
    const url = await raw((body, out) => {
      sse(out, body.id, { task: completed });
      out.end();
    });
    const client = await connect({ url });
    const sent = client.send({ ...say('x'), contextId: 'c2' });
    await expect(sent).rejects.toMatchObject({ code: 'invalid' });
  });

  it.each(['one answer', 'a stream'])('can’t fill the memory with %s', async (how) => {
    const url = await raw((body, out) => {
      const big = {
        ...completed,
        artifacts: [{ artifactId: 'a', parts: [{ text: 'x'.repeat(200_000) }] }],
      };
      if (how === 'a stream') sse(out, body.id, { task: big });
      else out.setHeader('content-type', 'application/json');
      out.end(
        how === 'a stream' ? '' : JSON.stringify({ jsonrpc: '2.0', id: body.id, result: big }),
      );
    });
    const client = await connect({ url, maxResponseBytes: 50_000 });
    const call = how === 'a stream' ? client.send(say('x')) : client.getTask('t1');
    await expect(call).rejects.toMatchObject({ code: 'too-large' });
  });

  it('can’t redirect a call, and the credential with it', async () => {
    let reached = 0;
    const other = await raw((_, out) => {
      reached += 1;
      out.end();
    });
    const url = await raw((_, out) => out.writeHead(307, { location: other }).end());
    const client = await connect({ url, credential: 'Bearer secret' });
    await expect(client.send(say('x'))).rejects.toMatchObject({ code: 'invalid' });
    expect(reached).toBe(0);
  });

  it('can’t name another host in its card', async () => {
    const url = await raw(
      () => undefined,
      () =>
        AgentCard.toJSON(
          agentCard({ name: 'P', description: '', version: '1', url: 'https://other.example/' }),
        ),
    );
    await expect(connect({ url })).rejects.toMatchObject({ code: 'invalid' });
  });

  it.each([
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'http://agent.example/',
    'http://169.254.169.254/',
    'http://127.0.0.1.example.com/',
    'http://user:secret@127.0.0.1/',
    'not a url',
    '',
  ])('is not called at %s', async (url) => {
    await expect(connect({ url })).rejects.toMatchObject({ code: 'invalid' });
  });

  it('may be called over plain http where that is allowed by name', async () => {
    const options = { url: 'http://agent.invalid/', allowPlainHttp: true };
    await expect(connect(options)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is no agent but a web page: said plainly', async () => {
    const page = createServer((_, answer) => {
      answer.setHeader('content-type', 'text/html').end('<!doctype html>');
    });
    page.listen(0, '127.0.0.1');
    await once(page, 'listening');
    closing.push(async () => page.close());
    const address = page.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
    await expect(connect({ url })).rejects.toThrow(/answered with a web page; is this the address/);
  });

  it('shows no card: said plainly', async () => {
    const url = await raw(
      () => undefined,
      () => ({ name: 'no interface' }),
    );
    await expect(connect({ url })).rejects.toMatchObject({ code: 'unsupported' });
  });
});
