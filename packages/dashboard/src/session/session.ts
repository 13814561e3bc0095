import { HubClient, type HubClientOptions } from 'throughline/client';
import { ThroughlineError, type Principal } from 'throughline/model';

/** Who looks at the page, and the hub as that one sees it. */
export interface Session {
  readonly hub: HubClient;
  readonly principal: Principal;
  /** Ends what the hub keeps of it. Throws where the hub is not reached: then it is still good. */
  readonly end: () => Promise<void>;
}

export interface SessionOptions {
  /** The hub's origin; the page is served by the hub itself. */
  readonly origin: string;
  /** API key typed by a person. Kept in this closure and nowhere else; without it the cookie speaks. */
  readonly key?: string;
  /** One-time code of the address; it is taken for the browser's cookie. */
  readonly code?: string;
  readonly fetch?: typeof fetch;
}

/** A poll follows soon anyway, so that one more attempt is enough. */
const attempts = 2;

/** Asks the hub who we are. Throws `unauthenticated` where there is neither a good key nor a cookie. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const hub = new HubClient(clientOptions(options));
  if (options.code !== undefined) await unlessRefused(hub.openSession(options.code));
  const principal = await hub.whoAmI();
  // A key lives in this tab alone: the hub keeps nothing that could be ended.
  const end = () => (options.key === undefined ? hub.endSession() : Promise.resolve());
  return { hub, principal, end };
}

/** A code that counts no more may have left its cookie here: that is asked for next. */
async function unlessRefused(opening: Promise<void>): Promise<void> {
  try {
    await opening;
  } catch (error) {
    const isRefused =
      error instanceof ThroughlineError &&
      (error.code === 'unauthenticated' || error.code === 'invalid');
    if (!isRefused) throw error;
  }
}

function clientOptions({ origin, key, fetch: given = fetch }: SessionOptions): HubClientOptions {
  return {
    url: origin,
    key: key ?? '',
    attempts,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      // No key: the browser shows the session's HttpOnly cookie, which no script can read.
      if (key === undefined) headers.delete('Authorization');
      return given(input, { ...init, headers, credentials: 'same-origin', cache: 'no-store' });
    },
  };
}
