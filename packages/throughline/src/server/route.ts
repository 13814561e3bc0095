import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { Acting } from '../hub/acting.ts';
import { limits } from '../model/limits.ts';
import type { Principal } from '../model/principal.ts';
import type { ServedHub } from './ports.ts';

/** A request after authentication, before its parts are checked. */
export interface RawInput {
  readonly principal: Principal;
  /** Who it is for: the bearer, or whose credential an agent hands on; always `via` the bearer. */
  readonly caller: () => Promise<Acting>;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Parsed JSON, or bytes; undefined where the route takes none. */
  readonly body: unknown;
  readonly token: string | undefined;
  /** Of possession of the key that the token is bound to (RFC 9449). */
  readonly proof: string | undefined;
  /** The hub's own; begins every ContextURI. */
  readonly origin: string;
  readonly live: Live;
}

/** What an answer needs that goes on for as long as its reader wants. */
export interface Live {
  /** Of the event that the reader saw last. */
  readonly lastEventId: string | undefined;
  /** Aborted when the reader goes and when the server closes. */
  readonly signal: AbortSignal;
  /** Whether what the reader showed still counts. */
  readonly stillIn: () => Promise<boolean>;
  /** Milliseconds without the reader taking anything, after which it is dropped. */
  readonly stalledMs: number;
  /** Cuts the reader off, whatever is still to be written. */
  readonly drop: () => void;
  /** Hears of what went wrong once the answer had begun. */
  readonly onFailure: (error: unknown) => void;
}

interface Input<P, Q, B> extends Omit<RawInput, 'params' | 'query' | 'body'> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

type Method = 'get' | 'post' | 'put' | 'delete';

interface Definition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A> {
  readonly method: Method;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly summary: string;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The body is application/octet-stream, not JSON. */
  readonly takes?: 'bytes';
  /** Bytes of a body; default: `limits.bodyBytes`, or `contentBytes` for bytes. */
  readonly maxBytes?: number;
  /** The page’s cookie will do: it reads what the page shows. */
  readonly bySession?: true;
  /** Schema of the JSON answer; `bytes`, `events` and `lines` for a Response with them, `nothing` for 204. */
  readonly gives: z.ZodType<A> | 'bytes' | 'events' | 'lines' | 'nothing';
  readonly handle: (
    hub: ServedHub,
    input: Input<z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<A>;
}

/** A line of the table of routes, its types folded away behind `run`. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: z.ZodType;
  readonly takes: 'json' | 'bytes' | 'nothing';
  readonly maxBytes: number;
  readonly bySession: boolean;
  readonly gives: z.ZodType | 'bytes' | 'events' | 'lines' | 'nothing';
  /** Checks every part by its schema, then does it. */
  readonly run: (hub: ServedHub, raw: RawInput) => Promise<unknown>;
}

/** A request without parameters, query and body; spread first, so that each part is said once. */
export const empty = {
  params: z.strictObject({}),
  query: z.strictObject({}),
  body: z.undefined(),
};

/** Makes a line of the table. */
export function route<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A>(
  definition: Definition<P, Q, B, A>,
): Route {
  const { params, query, body, handle } = definition;
  const takesJson = !(body instanceof z.ZodUndefined);
  return {
    method: definition.method,
    path: definition.path,
    summary: definition.summary,
    params,
    query,
    body,
    takes: definition.takes ?? (takesJson ? 'json' : 'nothing'),
    maxBytes:
      definition.maxBytes ??
      (definition.takes === 'bytes' ? limits.contentBytes : limits.bodyBytes),
    bySession: definition.bySession === true,
    gives: definition.gives,
    run: async (hub, raw) =>
      handle(hub, {
        ...raw,
        params: check(params, raw.params, 'path'),
        query: check(query, typed(query, raw.query), 'query'),
        body: check(body, raw.body, 'body'),
      }),
  };
}

const maxFindings = 8;
const maxWords = 200;

/** Throws `invalid` that names each part at fault by its path; values are never repeated. */
function check<T extends z.ZodType>(schema: T, value: unknown, where: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const findings = result.error.issues.slice(0, maxFindings).map((found) => ({
    at: [where, ...found.path.map(String)].join('.').slice(0, maxWords),
    problem: found.message.slice(0, maxWords),
  }));
  const words = findings.map(({ at, problem }) => `${at}: ${problem}`).join('; ');
  throw new ThroughlineError('invalid', words, { details: { findings } });
}

/** Query text as the numbers and booleans that its schema asks for; what does not fit stays text. */
function typed(schema: z.ZodObject, query: RawInput['query']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const kind = kindOf(schema.shape[name]);
      if (kind === 'number' && /^-?\d{1,15}$/.test(text)) return [name, Number(text)];
      if (kind === 'boolean' && (text === 'true' || text === 'false'))
        return [name, text === 'true'];
      return [name, text];
    }),
  );
}

function kindOf(schema: unknown): string | undefined {
  if (mayBeAbsent(schema)) return kindOf(schema.unwrap());
  return schema instanceof z.ZodType ? schema.type : undefined;
}

type Absentable = z.ZodOptional | z.ZodExactOptional | z.ZodDefault;

/** Whether a field with this schema may be left out. */
export const mayBeAbsent = (schema: unknown): schema is Absentable =>
  [z.ZodOptional, z.ZodExactOptional, z.ZodDefault].some((kind) => schema instanceof kind);
