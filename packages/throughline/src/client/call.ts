import { z } from 'zod';
import { errorCodes, ThroughlineError } from '../errors.ts';
import { foreignId } from '../model/ids.ts';
import { pageUrl } from '../model/session.ts';

/** How a hub is called. */
export interface HubClientOptions {
  /** The hub's origin, such as `http://127.0.0.1:4680`. */
  readonly url: string;
  /** API key (`tlk_…`) of the one who calls. */
  readonly key: string;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** Milliseconds that one attempt may take. Default 15,000. */
  readonly timeoutMs?: number;
  /** Attempts at a call that may be repeated. Default 4. */
  readonly attempts?: number;
  /** Headers that every call carries besides, asked for anew each time; such as those of a trace. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Doing it twice is as good as once, so it may be tried again. Default: GET and DELETE only. */
  readonly idempotent?: boolean;
}

interface Answer {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly headers: Headers;
}

const problemSchema = z.looseObject({
  code: z.enum(errorCodes),
  detail: z.string(),
  retryable: z.boolean().default(false),
  details: z.record(z.string(), z.unknown()).default({}),
});

const firstDelayMs = 100;

/** One path segment, checked first: `..` in a URL would name another route. Throws `invalid`. */
export function segment(id: string): string {
  const parsed = foreignId.safeParse(id);
  if (parsed.success) return encodeURIComponent(parsed.data);
  throw new ThroughlineError('invalid', `id: ${parsed.error.issues[0]?.message ?? 'is not an id'}`);
}

/**
 * Calls a hub over HTTP, with a time limit and bounded tries. A hub out of reach is `unavailable`,
 * one that does not answer in time `timeout`; what the hub refuses is thrown with the hub's code.
 */
export class Caller {
  readonly #options: Required<HubClientOptions>;

  constructor(options: HubClientOptions) {
    this.#options = {
      timeoutMs: 15_000,
      attempts: 4,
      headers: () => ({}),
      fetch: (input, init) => fetch(input, init),
      ...options,
    };
  }

  /** The answer's JSON, by its schema. */
  async json<T extends z.ZodType>(call: Call, schema: T): Promise<z.output<T>> {
    const { bytes } = await this.#send(call);
    const result = schema.safeParse(jsonOf(bytes));
    if (result.success) return result.data;
    throw this.#strange(call, 'its answer has another shape');
  }

  /** The page’s address with a code. */
  pageAddress(code: string): string {
    return pageUrl(this.#options.url, code);
  }

  async nothing(call: Call): Promise<void> {
    await this.#send(call);
  }

  async bytes(call: Call): Promise<Answer> {
    return this.#send(call);
  }

  /** An answer that goes on, once it began in time; the signal ends it. Tried once. */
  async stream(call: Call, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const begun = new AbortController();
    const timer = setTimeout(() => begun.abort(timedOut()), this.#options.timeoutMs);
    try {
      const response = await this.#fetch(call, AbortSignal.any([signal, begun.signal]));
      if (response.ok && response.body !== null) return response.body;
      throw this.#refused(call, response.status, new Uint8Array(await response.arrayBuffer()));
    } catch (cause) {
      throw cause instanceof ThroughlineError ? cause : this.#unreached(call, cause);
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(call: Call): Promise<Answer> {
    const { method, idempotent = method === 'GET' || method === 'DELETE' } = call;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(call);
      } catch (error) {
        const mayRepeat = isUnavailable(error) && (idempotent || error.details['sent'] === false);
        if (!mayRepeat || attempt >= this.#options.attempts) throw error;
        const jitter = 0.5 + Math.random();
        await sleep(firstDelayMs * 2 ** (attempt - 1) * jitter);
      }
    }
  }

  async #once(call: Call): Promise<Answer> {
    let response: Response;
    let bytes: Uint8Array;
    try {
      response = await this.#fetch(call, AbortSignal.timeout(this.#options.timeoutMs));
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (cause) {
      throw this.#unreached(call, cause);
    }
    if (!response.ok) throw this.#refused(call, response.status, bytes);
    const { headers } = response;
    return { mediaType: headers.get('Content-Type') ?? 'application/octet-stream', bytes, headers };
  }

  #fetch(call: Call, signal: AbortSignal): Promise<Response> {
    const { url, key, headers: besides } = this.#options;
    const target = new URL(url.replace(/\/+$/, '') + call.path);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) target.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = {
      ...besides(),
      Authorization: `Bearer ${key}`,
      ...call.headers,
    };
    const body = call.json === undefined ? call.bytes : JSON.stringify(call.json);
    if (body !== undefined) {
      headers['Content-Type'] =
        call.json === undefined ? 'application/octet-stream' : 'application/json';
    }
    const init: RequestInit = { method: call.method, headers, redirect: 'error', signal };
    if (body !== undefined) init.body = typeof body === 'string' ? body : new Uint8Array(body);
    return this.#options.fetch(target, init);
  }

  #unreached(call: Call, cause: unknown): ThroughlineError {
    const { url, timeoutMs } = this.#options;
    const what = `${call.method} ${call.path}`;
    if (cause instanceof Error && cause.name === 'TimeoutError') {
      const message = `the hub at ${url} did not answer ${what} within ${timeoutMs} ms; what it did is unknown`;
      return new ThroughlineError('timeout', message, { cause });
    }
    return new ThroughlineError(
      'unavailable',
      `the hub at ${url} can't be reached for ${what}; is it running (throughline serve), and is the URL right?`,
      { cause, details: { sent: !wasNeverSent(cause) } },
    );
  }

  #refused(call: Call, status: number, bytes: Uint8Array): ThroughlineError {
    const problem = problemSchema.safeParse(jsonOf(bytes));
    if (!problem.success) return this.#strange(call, `it answered with status ${status}`);
    const { code, detail, retryable, details } = problem.data;
    return new ThroughlineError(code, detail, { retryable, details });
  }

  #strange(call: Call, why: string): ThroughlineError {
    return new ThroughlineError(
      'internal',
      `${this.#options.url} does not speak like a hub of this version: ${why} (${call.method} ${call.path}); check the URL`,
    );
  }
}

const timedOut = (): DOMException => new DOMException('took too long', 'TimeoutError');

const isUnavailable = (error: unknown): error is ThroughlineError =>
  error instanceof ThroughlineError && error.code === 'unavailable' && error.retryable;

/** Refused before anything could go out, so that trying again can't do a thing twice. */
function wasNeverSent(cause: unknown): boolean {
  const inner = cause instanceof Error ? cause.cause : undefined;
  return (
    typeof inner === 'object' && inner !== null && 'code' in inner && inner.code === 'ECONNREFUSED'
  );
}

/** Undefined for what is no JSON; no schema of an answer takes that. */
function jsonOf(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return value;
  } catch {
    return undefined;
  }
}

const sleep = (ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  setTimeout(() => resolve(undefined), ms);
  return promise;
};
