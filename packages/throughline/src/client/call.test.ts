import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentCalls } from './agent-calls.ts';
import { Caller, segment, type HubClientOptions } from './call.ts';
import { HubClient } from './hub-client.ts';

const url = 'http://127.0.0.1:4680';
const problem = (code: string, status: number, more: object = {}) =>
  Response.json({ code, detail: 'the detail', status, ...more }, { status });
const unavailable = () => problem('unavailable', 503, { retryable: true });

type Asked = { readonly url: string; readonly init: RequestInit };

/** A client whose hub answers from a list, the last one again and again, and what it was asked. */
function clientFor(
  answers: readonly (() => Response | Promise<Response>)[],
  options: Partial<HubClientOptions> = {},
) {
  const asked: Asked[] = [];
  const hub: typeof fetch = async (input, init = {}) => {
    asked.push({ url: input instanceof Request ? input.url : input.toString(), init });
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer === undefined) throw new TypeError('fetch failed');
    return answer();
  };
  const all = { url, key: 'tlk_x', fetch: hub, ...options };
  return { asked, caller: new Caller(all), client: new HubClient(all) };
}

const ok = () => Response.json({ ok: true });
const schema = z.object({ ok: z.boolean() });
const get = { method: 'GET', path: '/x' } as const;
const post = { method: 'POST', path: '/x', json: {} } as const;

/** A hub that never answers. */
const silent: typeof fetch = (_, init) => {
  const { promise, reject } = Promise.withResolvers<Response>();
  init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  return promise;
};

describe('calling a hub', () => {
  it('shows the key and asks for no redirect', async () => {
    const { asked, caller } = clientFor([ok]);
    expect(await caller.json(get, schema)).toEqual({ ok: true });
    expect(asked[0]?.init).toMatchObject({
      headers: { Authorization: 'Bearer tlk_x' },
      redirect: 'error',
    });
  });

  it('throws what the hub refused with the hub’s own code', async () => {
    const { caller } = clientFor([() => problem('terminal', 409, { details: { go: 'on' } })]);
    await expect(caller.json(post, schema)).rejects.toMatchObject({
      code: 'terminal',
      message: 'the detail',
      details: { go: 'on' },
    });
  });

  it('tries a read again when the hub is not available, a bounded number of times', async () => {
    const again = clientFor([unavailable, unavailable, ok]);
    expect(await again.caller.json(get, schema)).toEqual({ ok: true });
    expect(again.asked).toHaveLength(3);
    const never = clientFor([unavailable], { attempts: 3 });
    await expect(never.caller.json(get, schema)).rejects.toMatchObject({ code: 'unavailable' });
    expect(never.asked).toHaveLength(3);
  });

  it('does not repeat what could be done twice', async () => {
    const { asked, caller } = clientFor([unavailable, ok]);
    await expect(caller.json(post, schema)).rejects.toMatchObject({ code: 'unavailable' });
    expect(asked).toHaveLength(1);
    const lost = clientFor([
      () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })),
    ]);
    await expect(lost.caller.json(post, schema)).rejects.toMatchObject({ code: 'unavailable' });
    expect(lost.asked).toHaveLength(1);
  });

  it('repeats what was certainly never sent', async () => {
    const { asked, caller } = clientFor([
      () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })),
      ok,
    ]);
    expect(await caller.json(post, schema)).toEqual({ ok: true });
    expect(asked).toHaveLength(2);
  });

  it('does not repeat other refusals', async () => {
    const { asked, caller } = clientFor([() => problem('conflict', 409)]);
    await expect(caller.json(get, schema)).rejects.toMatchObject({ code: 'conflict' });
    expect(asked).toHaveLength(1);
  });

  it('gives up waiting, and says that the outcome is unknown', async () => {
    const { caller } = clientFor([], { fetch: silent, timeoutMs: 20 });
    await expect(caller.json(post, schema)).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('what it did is unknown'),
    });
  });

  it.each([
    ['another shape', () => Response.json({ ok: 'yes' })],
    ['a page', () => new Response('<html>', { headers: { 'Content-Type': 'text/html' } })],
    ['an error page', () => new Response('<html>', { status: 502 })],
    ['an unknown code', () => problem('teapot', 418)],
  ])('says that %s is no hub’s answer', async (_, answer) => {
    const { caller } = clientFor([answer]);
    await expect(caller.json(get, schema)).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('does not speak like a hub'),
    });
  });

  it.each(['..', '.', '', 'a/b', 'a\\b', '%2f', '\ud800', '\0', 'x'.repeat(1_000)])(
    'never puts the id %j into a path',
    async (id) => {
      const { asked, client } = clientFor([ok]);
      expect(() => segment(id)).toThrow(expect.objectContaining({ code: 'invalid' }));
      await expect(client.caseView(id)).rejects.toMatchObject({ code: 'invalid' });
      expect(asked).toHaveLength(0);
    },
  );

  it('sends no key to the host of a made-up ContextURI', async () => {
    const { asked, caller } = clientFor([() => new Response('x')]);
    const id = `res_${'0'.repeat(26)}`;
    await agentCalls(caller).getContent(`https://evil.test/content/${id}`, 'token');
    expect(asked[0]?.url).toBe(`${url}/content/${id}`);
    for (const uri of [
      'https://evil.test/',
      'no url',
      `${url}/content/../keys`,
      `${url}/cases/${id}`,
    ]) {
      await expect(agentCalls(caller).getContent(uri, 'token')).rejects.toMatchObject({
        code: 'not-found',
      });
    }
    expect(asked).toHaveLength(1);
  });
});
