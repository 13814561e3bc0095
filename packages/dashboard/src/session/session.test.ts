import { describe, expect, it } from 'vitest';
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
});
