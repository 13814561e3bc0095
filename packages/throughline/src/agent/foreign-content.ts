import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';
import { createOutbound, type Outbound, type OutboundOptions } from '../transports/index.ts';

/** Reads ContextURIs of other stores than the agent's own hub. */
export interface ForeignContent {
  /** Whether a URI is of a store that may be asked. */
  serves(uri: string): boolean;
  /**
   * Asks that store, with a token of its own where there is one. `not-found` for any refusal, `gone`
   * where its time is over; what is said of them by `transports/outbound` for the rest.
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

const statuses: Readonly<Record<number, () => ThroughlineError>> = {
  401: () => unreadable(),
  403: () => unreadable(),
  404: () => unreadable(),
  410: () =>
    new ThroughlineError('gone', 'The store no longer has the content, or its token is over.'),
};

class GuardedContent implements ForeignContent {
  readonly #outbound: Outbound;

  constructor({ hosts, ...options }: ForeignOptions) {
    const bounds = { allowHosts: hosts, responseBytes: limits.contentBytes };
    this.#outbound = createOutbound({ ...options, ...bounds });
  }

  serves(uri: string): boolean {
    try {
      this.#outbound.check(uri);
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
    throw (
      statuses[status]?.() ??
      new ThroughlineError('unavailable', `The store of the content answered with ${status}.`)
    );
  }
}

const unreadable = (): ThroughlineError =>
  new ThroughlineError('not-found', 'The store of the content does not open it to this agent.');

/**
 * Stores that an operator listed, behind the guard of all outbound calls: https alone, no addresses of
 * a private network, whatever DNS says, bounded in size and time, and no redirects unless asked for.
 */
export const createForeignContent = (options: ForeignOptions): ForeignContent =>
  new GuardedContent(options);
