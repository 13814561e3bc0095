import { ThroughlineError } from '../errors.ts';
import type { ForeignContent } from '../transports/index.ts';

/** Other stores than the hub's that offered items may lie in. */
export interface ForeignStores {
  /** Which are trusted, and the guarded way to them; see `createForeignContent`. */
  readonly content: ForeignContent;
  /**
   * `refer` (default): agents read there what they are handed; those that take no AgentContexts get it
   * from the Master. `take`: the Master takes it into the hub's store when it is offered.
   */
  readonly policy?: 'refer' | 'take';
  /**
   * A token of that store for who reads it there: an agent, or the Master itself, by principal id. Asked for
   * at each reading and hand-over, and never kept. Default: none.
   */
  readonly token?: (
    uri: string,
    reader: string,
  ) => Promise<string | undefined> | string | undefined;
}

/** Names of parameters that carry a right to read, as signed URLs have them. */
const secrets =
  /^(?:x-(?:amz|goog|ms|oss)-.*|awsaccesskeyid|sig|signature|.*token|.*secret|.*password|(?:api[-_]?)?key|auth|code|ctx)$/i;

/**
 * Refuses a URI that is not of a trusted store, and one that holds a secret: a ContextURI is stored, shown
 * and put in front of models.
 *
 * @throws ThroughlineError `invalid` naming the item.
 */
export function checkForeign(stores: ForeignStores | undefined, name: string, uri: string): void {
  const what = `Context item ${name}`;
  if (stores === undefined) {
    throw new ThroughlineError(
      'invalid',
      `${what} lies in another store, and this Master trusts none but its hub’s; list the host of the store.`,
    );
  }
  try {
    stores.content.check(uri);
  } catch (cause) {
    const why = cause instanceof ThroughlineError ? cause.message : 'it can’t be read';
    throw new ThroughlineError('invalid', `${what} lies in no store that is trusted: ${why}.`, {
      cause,
    });
  }
  const secret = [...new URL(uri).searchParams.keys()].find((key) => secrets.test(key));
  if (secret === undefined || stores.policy === 'take') return;
  throw new ThroughlineError(
    'invalid',
    `${what}: the URI holds a secret (${secret.slice(0, 40)}), and a ContextURI is kept and shown. Let the Master take the content into the hub’s store, or give it a token of the store.`,
  );
}

/** Reads from a trusted store, as the Master. @throws ThroughlineError naming the item and why. */
export async function readForeign(
  stores: ForeignStores | undefined,
  { name, uri, size, self }: { name: string; uri: string; size: number; self: string },
): Promise<{ mediaType: string; bytes: Uint8Array }> {
  checkForeign(stores, name, uri);
  try {
    const token = await stores?.token?.(uri, self);
    const read = await stores?.content.get(uri, { token, size });
    if (read !== undefined) return read;
  } catch (cause) {
    if (!(cause instanceof ThroughlineError)) throw cause;
    const { retryable } = cause;
    const code = cause.code === 'unavailable' && !retryable ? 'not-found' : cause.code;
    const said = `Context item ${name} is not to be had where it lies: ${cause.message}`;
    throw new ThroughlineError(code, said, { cause, retryable });
  }
  throw new ThroughlineError('internal', 'a foreign store was checked and is not there');
}
