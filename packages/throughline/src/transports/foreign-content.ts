import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';
import { createOutbound, type Outbound, type OutboundOptions } from './outbound.ts';

/** Reads ContextURIs of other stores than one's own hub. */
export interface ForeignContent {
  /** Whether a URI is of a store that may be asked. */
  serves(uri: string): boolean;
  /** The same. @throws ThroughlineError `invalid` that says why not. */
  check(uri: string): void;
  /**
   * Asks that store, with a token of its own where there is one. `not-found` for any refusal, `gone`
   * where its time is over, `unsupported` for a redirect that is not followed; what is said of them by
   * `transports/outbound` for the rest.
   */
  get(
    uri: string,
    right: { readonly token?: string | undefined; readonly size: number },
  ): Promise<{ mediaType: string; bytes: Uint8Array }>;
}

export interface ForeignOptions extends Omit<OutboundOptions, 'allowHosts' | 'responseBytes'> {
  /** Hosts of the stores: `store.example`, `*.example`. All others are refused. */
  readonly hosts: readonly string[];
}

class GuardedContent implements ForeignContent {
  readonly #outbound: Outbound;

  constructor({ hosts, ...options }: ForeignOptions) {
    const bounds = { allowHosts: hosts, responseBytes: limits.contentBytes };
    this.#outbound = createOutbound({ ...options, ...bounds });
  }

  check(uri: string): void {
    this.#outbound.check(uri);
  }

  serves(uri: string): boolean {
    try {
      this.check(uri);
      return true;
    } catch {
      return false;
    }
  }

  async get(
    uri: string,
    { token, size }: { readonly token?: string | undefined; readonly size: number },
  ): Promise<{ mediaType: string; bytes: Uint8Array }> {
    const headers = token === undefined ? {} : { 'Throughline-Content-Token': token };
    // More than was handed over is not what was handed over.
    const {
      status,
      headers: said,
      body,
    } = await this.#outbound.send({
      url: uri,
      headers,
      responseBytes: size,
    });
    if (status === 200) {
      const mediaType = said.get('content-type') ?? 'application/octet-stream';
      return { mediaType, bytes: body };
    }
    throw refusal(status);
  }
}

/** What a store says when it is busy or broken; it may be asked again. */
const passing: readonly number[] = [408, 425, 429];

function refusal(status: number): ThroughlineError {
  if (status === 410) {
    return new ThroughlineError('gone', 'The store no longer has it, or its token is over.');
  }
  if (status >= 500 || passing.includes(status)) {
    return new ThroughlineError('unavailable', `The store answered with ${status}.`);
  }
  return status < 400
    ? new ThroughlineError('unsupported', `The store answered with ${status}: it leads elsewhere.`)
    : new ThroughlineError('not-found', 'The store does not open it to whoever asked.');
}

/**
 * Stores that an operator listed, behind the guard of all outbound calls: https alone, no addresses of
 * a private network, whatever DNS says, bounded in size and time, and no redirects unless asked for.
 */
export const createForeignContent = (options: ForeignOptions): ForeignContent =>
  new GuardedContent(options);
