import { describe, expect, it } from 'vitest';
import { takeCode } from './code.ts';
import { openSession } from './session.ts';

const principal = { tenant: 'shop', id: 'priya', role: 'caller' };

function hub(answer: () => Response) {
  const asked: { headers: Headers; init: RequestInit }[] = [];
  const fetch: typeof globalThis.fetch = async (_input, init = {}) => {
    asked.push({ headers: new Headers(init.headers), init });
    return answer();
  };
  return { asked, fetch };
}

describe('a session', () => {
  it('shows a typed key to the page’s own origin alone', async () => {
    const { asked, fetch } = hub(() => Response.json(principal));
    const session = await openSession({ origin: 'http://hub.test', key: 'tlk_x', fetch });
    expect(session.principal).toEqual(principal);
    expect(asked[0]?.headers.get('Authorization')).toBe('Bearer tlk_x');
    expect(asked[0]?.init).toMatchObject({ credentials: 'same-origin', redirect: 'error' });
  });

  it('shows no key where none was typed, so that the cookie speaks', async () => {
    const { asked, fetch } = hub(() => Response.json(principal));
    await openSession({ origin: 'http://hub.test', fetch });
    expect(asked[0]?.headers.has('Authorization')).toBe(false);
    expect(asked[0]?.init.credentials).toBe('same-origin');
  });

  it('is refused by the hub for a key that it does not know', async () => {
    const problem = { code: 'unauthenticated', detail: 'no such key', status: 401 };
    const { fetch } = hub(() => Response.json(problem, { status: 401 }));
    await expect(openSession({ origin: 'http://hub.test', fetch })).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  const code = 'A'.repeat(22);

  it('takes a code for the cookie before it asks who we are, and shows no key', async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (input, init = {}) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      asked.push(`${init.method} ${pathname} ${new Headers(init.headers).get('Authorization')}`);
      return pathname === '/sessions'
        ? new Response(null, { status: 204 })
        : Response.json(principal);
    };
    const session = await openSession({ origin: 'http://hub.test', code, fetch });
    expect(session.principal).toEqual(principal);
    expect(asked).toEqual(['POST /sessions null', 'POST /authenticate null']);
  });

  it.each([
    [401, 'unauthenticated', undefined],
    [400, 'invalid', undefined],
    [503, 'unavailable', 'unavailable'],
  ])('goes by the cookie alone where a code is refused with %i', async (status, code_, thrown) => {
    const fetch: typeof globalThis.fetch = async (input) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (pathname !== '/sessions') return Response.json(principal);
      return Response.json({ code: code_, detail: 'no', status }, { status });
    };
    const opening = openSession({ origin: 'http://hub.test', code, fetch });
    if (thrown === undefined) expect((await opening).principal).toEqual(principal);
    else await expect(opening).rejects.toMatchObject({ code: thrown });
  });
});

const opened = (hash: string) => {
  const shown: string[] = [];
  const history: Pick<History, 'replaceState'> = {
    replaceState: (_state, _title, url) => void shown.push(String(url)),
  };
  return { code: takeCode({ location: { hash, pathname: '/' }, history }), shown };
};

describe('the code in the address', () => {
  it('is taken out of it, and the place it leads to stays', () => {
    expect(opened('#code=abc')).toEqual({ code: 'abc', shown: ['/#/'] });
    expect(opened('#code=abc/case/ctx_1/tree')).toEqual({
      code: 'abc',
      shown: ['/#/case/ctx_1/tree'],
    });
  });

  it.each(['', '#/', '#/case/code=abc', '#/code=abc'])('is in none such as “%s”', (hash) => {
    expect(opened(hash)).toEqual({ code: undefined, shown: [] });
  });
});
