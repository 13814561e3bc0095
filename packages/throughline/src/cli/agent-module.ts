import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import {
  serveAgent,
  type AgentHandler,
  type ForeignContent,
  type MessageHandler,
  type ServeAgentOptions,
} from '../agent/index.ts';
import { ThroughlineError } from '../errors.ts';
import { shortText } from '../model/ids.ts';
import type { Principal } from '../model/principal.ts';
import { connectAgent, type Connection } from './wire.ts';

/** A class can't be called, which would come up at the first task. */
const isFunction = (value: unknown): boolean =>
  typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value));
const handler = z.custom<AgentHandler>(isFunction, 'must be a function').optional();
const onMessage = z.custom<MessageHandler>(isFunction, 'must be a function').optional();
const card = z
  .object({ name: shortText, description: shortText, version: z.string().max(64) })
  .partial()
  .optional();
const agentSchema = z.looseObject({ handler, onMessage, card });
const moduleSchema = agentSchema.extend({
  default: z
    .union([z.custom<AgentHandler>(isFunction), agentSchema], 'must be a function or hold one')
    .optional(),
});

/** What a file says that it is as an agent. */
export interface AgentModule {
  readonly file: string;
  readonly handler?: AgentHandler | undefined;
  readonly onMessage?: MessageHandler | undefined;
  readonly card: { readonly name: string; readonly description: string; readonly version: string };
}

/**
 * Loads a JavaScript or TypeScript file that exports `handler` (does subtasks) or `onMessage` (answers
 * people), and `card` if it likes; or has them in its default export, or the handler as that.
 *
 * @throws ThroughlineError `invalid` naming the file and what is missing.
 */
export async function loadAgentModule(
  path: string,
  folder = '.',
  loadMs = 120_000,
): Promise<AgentModule> {
  const file = resolve(folder, path);
  const loaded: unknown = await inTime(loadMs, imported(file)).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ThroughlineError('invalid', `${path}: can’t be loaded: ${why}`, { cause });
  });
  const parsed = moduleSchema.safeParse({ ...Object(loaded) });
  if (!parsed.success) {
    throw new ThroughlineError('invalid', `${path}: ${z.prettifyError(parsed.error)}`);
  }
  const { default: main, ...named } = parsed.data;
  const own = typeof main === 'function' ? { handler: main } : (main ?? {});
  const agent = { ...named, ...own };
  if (agent.handler === undefined && agent.onMessage === undefined) {
    throw new ThroughlineError(
      'invalid',
      `${path}: exports nothing that works; export a function handler(context, io), or onMessage(message, io)`,
    );
  }
  const name = basename(file, extname(file));
  return {
    file,
    handler: agent.handler,
    onMessage: agent.onMessage,
    card: { name, description: `The agent of ${name}`, version: '1.0.0', ...given(agent.card) },
  };
}

async function imported(file: string): Promise<unknown> {
  if (!(await stat(file)).isFile()) throw new Error('it is no file');
  return import(pathToFileURL(file).href);
}

/** A file that waits for what never comes would leave nothing to do, and Node ends without a word. */
async function inTime<T>(ms: number, loading: Promise<T>): Promise<T> {
  const late = new AbortController();
  const over = sleep(ms, undefined, late).then(() => {
    throw new Error(`it is not done after ${ms} ms; something in it is awaited`);
  });
  return Promise.race([loading, over]).finally(() => late.abort());
}

/** What is there of it: an absent field must not hide a default. */
const given = (fields: z.output<typeof card>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields ?? {}).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value]],
    ),
  );

type AgentParts = Pick<ServeAgentOptions, 'card' | 'handler' | 'onMessage' | 'onCancel'>;

export interface ServeModuleOptions {
  readonly hubUrl: string;
  /** The agent's own key. */
  readonly key: string;
  readonly principal: Principal;
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly publicUrl?: string | undefined;
  /** Other stores that it may read from. */
  readonly foreign?: ForeignContent;
  readonly onFault: (error: unknown) => void;
}

export interface Served {
  readonly url: string;
  /** Takes no more, lets what is under way end for two seconds, and leaves the rest for the next start. */
  close(): Promise<void>;
}

/** Serves a loaded agent behind a hub. */
export async function serveModule(
  { card: shown, handler: work, onMessage: answer }: AgentModule,
  { hubUrl, key, ...options }: ServeModuleOptions,
): Promise<Served> {
  return serveBehind(await connectAgent({ hubUrl, key }), {
    ...options,
    card: shown,
    ...(work !== undefined && { handler: work }),
    ...(answer !== undefined && { onMessage: answer }),
  });
}

/** Milliseconds that work under way has when an agent closes. */
const drainMs = 2_000;

/** Serves an agent with a connection to its hub, which closes with it. */
export async function serveBehind(
  connection: Connection,
  { port, host, publicUrl, ...does }: Omit<ServeModuleOptions, 'hubUrl' | 'key'> & AgentParts,
): Promise<Served> {
  const serving = async () =>
    serveAgent({
      ...does,
      ports: connection.ports,
      terms: await connection.terms(),
      ...(port !== undefined && { port }),
      ...(host !== undefined && { host }),
      ...(publicUrl !== undefined && { publicUrl }),
    });
  const served = await serving().catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });
  return {
    url: served.url,
    close: async () => {
      await served.close(drainMs);
      await connection.close();
    },
  };
}
