import { createHmac, randomBytes } from 'node:crypto';
import { pino, type Logger } from 'pino';
import { ThroughlineError } from '../../errors.ts';
import type { Principal } from '../../model/principal.ts';
import type { Answered } from '../../server/index.ts';

export const logLevels = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Longest line, in characters; what is longer is named and left out. */
const longestLine = 8_192;
const longestText = 1_000;
const mostFrames = 12;
const deepestCause = 4;

/** Never logged, whatever comes under these names. */
const secretNames = [
  'authorization',
  'cookie',
  'set-cookie',
  'dpop',
  'throughline-caller',
  'throughline-content-token',
  'key',
  'token',
  'secret',
  'password',
];

/** What looks like a credential wherever it stands: keys of ours, bearers, JWTs, passwords in URLs. */
const secretTexts =
  /\btl[a-z]{0,3}_[\w-]{8,}|\b(?:Bearer|Basic|DPoP)\s+[\w.~+/=-]+|\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?|(?<=:\/\/)[^\s/@]+@|[\w-]{40,}/gi;

/** A hub’s log. What goes into it is chosen field by field; it never gets a request or an answer. */
export interface Log {
  answered(answered: Answered): void;
  failed(what: {
    readonly requestId?: string;
    readonly method: string;
    readonly error: unknown;
  }): void;
  note(message: string, fields?: Readonly<Record<string, number | string | boolean>>): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly write: (line: string) => void;
  /** Lines for people instead of JSON. */
  readonly plain?: boolean;
}

/** Opens a log of JSON lines, or of plain ones. */
export function openLog({ level, write, plain = false }: LogOptions): Log {
  const line = (text: string): void => write(plain ? plainLine(text) : bounded(text));
  const logger: Logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`]),
    },
    { write: line },
  );
  const pseudonym = pseudonyms();
  return {
    answered: ({ principal, ms, status, ...rest }) => {
      const fields = {
        ...rest,
        status,
        ms: Math.round(ms * 10) / 10,
        ...(principal === undefined ? {} : { principal: pseudonym(principal) }),
      };
      if (status >= 500) logger.error(fields, 'request');
      else logger.info(fields, 'request');
    },
    failed: ({ error, ...fields }) =>
      logger.error({ ...fields, error: errorFields(error) }, 'failed'),
    note: (message, fields = {}) => logger.info(fields, message),
  };
}

/** Tells callers apart within one run of the hub, and tells nobody who they are. */
function pseudonyms(): (principal: Principal) => string {
  const key = randomBytes(32);
  return ({ tenant, id }) =>
    createHmac('sha256', key).update(`${tenant}\0${id}`).digest('hex').slice(0, 12);
}

interface ErrorFields {
  readonly name: string;
  readonly code?: string;
  readonly message?: string;
  readonly frames?: readonly string[];
  readonly cause?: ErrorFields;
}

/** What may be told of an error: bounded, without what looks like a credential, and no quoted input. */
function errorFields(error: unknown, depth = 0): ErrorFields {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, message, stack = '', cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // A parser’s words quote what it was given.
  const quotes = error instanceof SyntaxError;
  const frames = stack
    .split('\n')
    .filter((each) => each.startsWith('    at '))
    .slice(0, mostFrames);
  return {
    name,
    ...(code === undefined ? {} : { code }),
    ...(quotes ? {} : { message: scrub(message) }),
    ...(error instanceof ThroughlineError || depth > 0
      ? {}
      : { frames: frames.map((each) => each.trim()) }),
    ...(cause === undefined || depth >= deepestCause
      ? {}
      : { cause: errorFields(cause, depth + 1) }),
  };
}

const scrub = (text: string): string =>
  text.replaceAll(secretTexts, '[secret]').slice(0, longestText);

function bounded(line: string): string {
  if (line.length <= longestLine) return line;
  return `${JSON.stringify({ level: 'warn', msg: `a line of ${line.length} characters was left out` })}\n`;
}

/** `12:30:01 error request GET /cases/{id} 500 …`: a line as a person reads it. */
function plainLine(line: string): string {
  const { level, time, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
  const said = Object.entries(fields).map(([name, value]) =>
    typeof value === 'string' || typeof value === 'number'
      ? `${name}=${value}`
      : `${name}=${JSON.stringify(value)}`,
  );
  return bounded(`${[String(time).slice(11, 19), level, msg, ...said].join(' ')}\n`);
}
