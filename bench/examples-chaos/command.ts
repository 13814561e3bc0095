/** The command line in a process of its own, to be killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const bin = join(
  dirname(createRequire(import.meta.url).resolve('throughline/package.json')),
  'bin/throughline.mjs',
);

/** Milliseconds for a process to say its first line. */
const startMs = 120_000;

/** Characters of what a process wrote to its log that are kept. */
const logLength = 8_000;

/** They would not notice that we are gone. */
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** One run of `throughline …`. */
export class Command {
  readonly #child: ChildProcess;
  readonly #line = Promise.withResolvers<string>();
  /** Its exit code; undefined when it was killed. */
  readonly ended: Promise<number | undefined>;
  #out = '';
  #log = '';

  constructor(args: readonly string[], env: NodeJS.ProcessEnv, onLog?: (log: string) => void) {
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(process.execPath, [bin, ...args], {
      env: { ...process.env, ...env },
      stdio: [...stdio],
    });
    this.#child = child;
    living.add(child);
    this.#line.promise.catch(() => undefined);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
      const end = this.#out.indexOf('\n');
      if (end >= 0) this.#line.resolve(this.#out.slice(0, end));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#log = `${this.#log}${text}`.slice(-logLength);
      onLog?.(this.#log);
    });
    this.ended = once(child, 'close').then(([code]: unknown[]) => {
      living.delete(child);
      this.#line.reject(new Error(`throughline ${args[0] ?? ''} ended: ${this.#log}`));
      return typeof code === 'number' ? code : undefined;
    });
  }

  get log(): string {
    return this.#log;
  }

  /** What it says first, in JSON. */
  async says(): Promise<unknown> {
    const late = setTimeout(() => {
      this.#line.reject(new Error(`It did not start: ${this.#log}`));
    }, startMs);
    try {
      return JSON.parse(await this.#line.promise);
    } finally {
      clearTimeout(late);
    }
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL');
    }
    await this.ended;
  }
}

/** A command that serves until it is killed, and then again at the same place. */
export class Service {
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #command: Command;
  readonly #failed = Promise.withResolvers<never>();
  /** What was killed last: its end is no failure. */
  #expected: Command | undefined;
  url = '';

  static async start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Service> {
    const service = new Service(args, env);
    await service.#up();
    return service;
  }

  private constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#args = args;
    this.#env = env;
    this.#failed.promise.catch(() => undefined);
    this.#command = this.#begin();
  }

  /** Rejects when it ends by itself. */
  get ended(): Promise<never> {
    return this.#failed.promise;
  }

  async killAndRestart(): Promise<void> {
    await this.kill();
    this.#command = this.#begin();
    await this.#up();
  }

  async kill(): Promise<void> {
    const before = this.#command;
    this.#expected = before;
    await before.kill();
  }

  #begin(): Command {
    const port = this.url === '' ? '0' : new URL(this.url).port;
    const command = new Command([...this.#args, '--port', port, '--json'], this.#env);
    void this.#watch(command);
    return command;
  }

  async #watch(command: Command): Promise<void> {
    await command.ended;
    if (this.#expected === command) return;
    this.#failed.reject(new Error(`${this.#args.join(' ')} ended by itself: ${command.log}`));
  }

  async #up(): Promise<void> {
    const said: unknown = await this.#command.says();
    if (typeof said === 'object' && said !== null && 'url' in said) this.url = String(said.url);
  }
}
