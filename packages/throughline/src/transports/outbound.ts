import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';
import { addressesOf, resolveBySystem, type ResolveHost } from './addresses.ts';
import { exchange, type Hop, type Method, type OutboundResponse } from './exchange.ts';
import { Gate } from './gate.ts';
import { redirected, redirectOf } from './redirect.ts';
import { createStop, type Stop, stopReason } from './stop.ts';
import { createUrlRules, type UrlOptions, type UrlRules } from './url-rules.ts';

const boundsSchema = z.object({
  connectMs: z.int().min(1).default(5_000),
  headersMs: z.int().min(1).default(10_000),
  totalMs: z.int().min(1).default(30_000),
  requestBytes: z.int().min(0).default(limits.bodyBytes),
  responseBytes: z.int().min(0).default(limits.bodyBytes),
  concurrent: z.int().min(1).default(16),
  waiting: z.int().min(0).default(256),
  redirects: z.int().min(0).max(5).default(0),
});

export interface OutboundOptions extends UrlOptions {
  /** Milliseconds for DNS, TCP and TLS. Default 5,000. */
  readonly connectMs?: number;
  /** Milliseconds from the connection to the end of the answer's head. Default 10,000. */
  readonly headersMs?: number;
  /** Milliseconds for a whole call, waiting for its turn included. Default 30,000. */
  readonly totalMs?: number;
  /** Bytes of a request's body. Default 4 MiB. */
  readonly requestBytes?: number;
  /** Bytes of an answer's body, as they come over the wire. Default 4 MiB. */
  readonly responseBytes?: number;
  /** Calls at a time. Default 16. */
  readonly concurrent?: number;
  /** Calls that wait for their turn; one more is refused. Default 256. */
  readonly waiting?: number;
  /** Redirects of a GET or HEAD that are followed, each checked anew; 5 at most. Default 0: none. */
  readonly redirects?: number;
  /** PEM certificates to trust instead of the ones Node trusts. */
  readonly ca?: readonly string[];
  /** Default: as the system resolves names. */
  readonly resolve?: ResolveHost;
}

export interface OutboundRequest {
  readonly url: string;
  /** Default GET. */
  readonly method?: Method;
  /** Only these are sent, credentials too, and those HTTP itself needs. Not for these to set: `host`, lengths, connection. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Less than the outbound's own `responseBytes`, for this call. */
  readonly responseBytes?: number;
  /** Gives the call up. */
  readonly signal?: AbortSignal;
}

/** The one way to call a URL that somebody else chose: a webhook, foreign content, keys, a hub. */
export interface Outbound {
  /**
   * What can be told of a URL without DNS; for the moment it is written down.
   *
   * @throws ThroughlineError `invalid`; `details.rule` names the rule. The message holds no more than the origin.
   */
  check(url: string): void;
  /**
   * Checks again, resolves once, and connects to one of the checked addresses. A redirect is returned
   * as it is unless `redirects` says to follow it. `details.sent`, where known, tells whether something went out.
   *
   * @throws ThroughlineError `invalid` for a refused URL, header or redirect; `too-large` for either body;
   *   `timeout`; `unavailable` when out of reach, broken off, given up, or when too many calls wait.
   */
  send(request: OutboundRequest): Promise<OutboundResponse>;
}

/** What frames a message or names the peer is not the caller's to set. */
const framing =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/i;
const defaultHeaders = { 'user-agent': 'throughline', 'accept-encoding': 'identity' };

function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(headers).map(([name, value]) => {
    if (!framing.test(name)) return [name.toLowerCase(), value] as const;
    throw new ThroughlineError('invalid', `header ${name} can't be set on an outbound call`);
  });
  return { ...defaultHeaders, ...Object.fromEntries(own) };
}

class GuardedOutbound implements Outbound {
  readonly #options: OutboundOptions;
  readonly #bounds: z.output<typeof boundsSchema>;
  readonly #rules: UrlRules;
  readonly #gate: Gate;

  constructor(options: OutboundOptions) {
    const bounds = boundsSchema.safeParse(options);
    if (!bounds.success) {
      throw new ThroughlineError('invalid', `outbound: ${z.prettifyError(bounds.error)}`);
    }
    this.#options = options;
    this.#bounds = bounds.data;
    this.#rules = createUrlRules(options);
    this.#gate = new Gate(bounds.data.concurrent, bounds.data.waiting);
  }

  check(url: string): void {
    this.#rules.parse(url);
  }

  async send(request: OutboundRequest): Promise<OutboundResponse> {
    const hop = this.#firstHop(request);
    const { origin } = hop.url;
    const { responseBytes, totalMs } = this.#bounds;
    const bytes = Math.min(Math.max(0, request.responseBytes ?? responseBytes), responseBytes);
    const stop = createStop(origin, request.signal);
    const whole = stop.within(totalMs, 'the call');
    try {
      stop.signal.throwIfAborted();
      await this.#gate.enter(stop.signal);
      try {
        return await this.#follow(hop, bytes, stop);
      } finally {
        // Not before names are resolved and connections closed, so that slow ones can't pile up.
        void stop.settled().then(() => this.#gate.leave());
      }
    } catch (error) {
      throw stop.signal.aborted ? stopReason(origin, stop.signal) : error;
    } finally {
      whole.clear();
    }
  }

  #firstHop(request: OutboundRequest): Hop {
    const url = this.#rules.parse(request.url);
    const headers = headersOf(request.headers ?? {});
    const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body;
    if (body !== undefined && body.byteLength > this.#bounds.requestBytes) {
      const message = `${url.origin}: the request is larger than ${this.#bounds.requestBytes} bytes`;
      throw new ThroughlineError('too-large', message, { details: { sent: false } });
    }
    return { url, method: request.method ?? 'GET', headers, body };
  }

  async #follow(first: Hop, responseBytes: number, stop: Stop): Promise<OutboundResponse> {
    const { resolve = resolveBySystem, ca } = this.#options;
    const { connectMs, headersMs, redirects } = this.#bounds;
    for (let hop = first, left = redirects; ; left--) {
      const addresses = await addressesOf(hop.url, resolve, connectMs, stop);
      this.#rules.checkAddresses(hop.url, addresses);
      const hopBounds = { connectMs, headersMs, responseBytes, ca };
      const answer = await exchange(hop, addresses, hopBounds, stop);
      const target = redirectOf(hop, answer);
      if (target === undefined || redirects === 0) return answer;
      if (left === 0) {
        const message = `${first.url.origin}: more than ${redirects} redirects`;
        throw new ThroughlineError('unavailable', message, { retryable: false });
      }
      hop = redirected(hop, this.#rules.parse(target, hop.url));
    }
  }
}

/** @throws ThroughlineError `invalid` for an option that is no host, address, network or sensible number. */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  return new GuardedOutbound(options);
}
