/** Starts the desk's processes, hears what they say, kills them when asked. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Milliseconds for a process to say that it listens. */
const startMs = 120_000;

const sayingSchema = z.looseObject({ kind: z.string() });
export type Saying = z.infer<typeof sayingSchema>;

/** A process of the desk. */
export interface Running {
  name: string;
  url: string;
  pid: number;
  /** Rejects when it ends without being asked to. */
  ended: Promise<never>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  tell(message: object): void;
}

export interface StartOptions {
  name: string;
  /** Module beside this folder, without its ending. */
  module: string;
  env?: Record<string, string>;
  onSaying?: (saying: Saying) => void;
}

/** Starts a module as a process of its own and waits until it listens. */
export async function start({ name, module, env, onSaying }: StartOptions): Promise<Running> {
  const file = fileURLToPath(new URL(`../${module}.ts`, import.meta.url));
  const child = fork(file, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const log = keepTail(child);
  const { promise: url, resolve: listening } = Promise.withResolvers<string>();
  const { promise: ended, reject: fail } = Promise.withResolvers<never>();
  ended.catch(() => undefined);
  let asked = false;
  child.once('exit', (code, signal) => {
    if (!asked) fail(new Error(`The ${name} ended by itself (${signal ?? code})\n${log()}`));
  });
  const late = setTimeout(() => {
    fail(new Error(`The ${name} did not listen within ${startMs / 1_000} s\n${log()}`));
  }, startMs);
  child.on('message', (message) => {
    const said = sayingSchema.safeParse(message);
    if (!said.success) return;
    if (said.data.kind === 'listening') listening(z.string().parse(said.data['url']));
    onSaying?.(said.data);
  });
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    asked = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    const force = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(force);
  };
  try {
    return {
      name,
      url: await Promise.race([url, ended]),
      pid: child.pid ?? 0,
      ended,
      kill: () => end('SIGKILL'),
      stop: () => end('SIGTERM'),
      tell: (message) => child.send(message),
    };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  } finally {
    clearTimeout(late);
  }
}

/** The last lines that a process wrote to its log, for when it fails. */
function keepTail(child: ChildProcess): () => string {
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = `${tail}${text}`.slice(-4_000);
  });
  return () => tail;
}
