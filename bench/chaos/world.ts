/** Everything that a run kills: hub with desk, its agents, two clerks, and the database where there is one. */
import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HubClient } from 'throughline/client';
import { z } from 'zod';
import { DeskProcesses } from '../../examples/support-desk/story/desk-processes.ts';
import { startDatabase, type Database } from './database.ts';
import type { Random } from './random.ts';

export type StoreKind = 'sqlite' | 'postgres';
/** What can be killed. */
export type Target = 'hub' | 'clerk' | 'policy reader' | 'database' | 'connection';

const clerk = 'clerk';
const replicas = 2;
/** Milliseconds for a process to say that it listens. */
const startMs = 120_000;
/** Milliseconds for the data to be looked through. */
const verifyMs = 300_000;
const listening = z.looseObject({ kind: z.literal('listening'), url: z.url() });

interface Clerk {
  url: string;
  readonly kill: () => Promise<void>;
}

export class World {
  readonly folder: string;
  readonly effects: string;
  readonly #desk: DeskProcesses;
  readonly #database: Database | undefined;
  readonly #clerks: Clerk[] = [];

  static async start(store: StoreKind): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-chaos-'));
    const captures = {
      policyReader: join(folder, 'given-to-policy-reader.jsonl'),
      caseWriter: join(folder, 'given-to-case-writer.jsonl'),
    };
    const effects = join(folder, 'effects.jsonl');
    for (const file of [...Object.values(captures), effects]) {
      writeFileSync(file, '', { mode: 0o600 });
    }
    const database = store === 'postgres' ? await startDatabase() : undefined;
    const desk = await DeskProcesses.start({
      dataDir: folder,
      ...(database === undefined ? {} : { store: database.url }),
      localKey: () => readFileSync(join(folder, 'local.key'), 'utf8').trim(),
      captures,
      known: [],
      otherTenant: 'A case of another bank.',
      onSaying: () => undefined,
    });
    const world = new World({ folder, effects, desk, database });
    // The policy reader of the story waits until it is killed; here it shall work.
    await desk.killAndRestart('policyReader');
    for (let at = 0; at < replicas; at++) world.#clerks.push(await world.#clerk(0));
    return world;
  }

  private constructor(parts: {
    folder: string;
    effects: string;
    desk: DeskProcesses;
    database: Database | undefined;
  }) {
    this.folder = parts.folder;
    this.effects = parts.effects;
    this.#desk = parts.desk;
    this.#database = parts.database;
  }

  get operator(): HubClient {
    return this.#desk.parts.operator;
  }

  get deskUrl(): string {
    return `${this.#desk.parts.hub.url}/agents/desk/`;
  }

  get hubUrl(): string {
    return this.#desk.parts.hub.url;
  }

  get clerkUrls(): readonly string[] {
    return this.#clerks.map(({ url }) => url);
  }

  keyFor(id: string): Promise<string> {
    return this.#desk.keyFor(id);
  }

  /** Rejects when the hub ends by itself. */
  get ended(): Promise<never> {
    return this.#desk.parts.hub.ended;
  }

  /** Ends it as a crash would, and starts it again where it was. */
  async kill(target: Target, random: Random): Promise<void> {
    if (target === 'hub') await this.#desk.killAndRestartHub();
    else if (target === 'policy reader') await this.#desk.killAndRestart('policyReader');
    else if (target === 'clerk') await this.#killClerk(Math.floor(random() * replicas));
    else await this.#database?.kill(target === 'database' ? 'server' : 'backend', random);
  }

  /** What `throughline verify` finds amiss with the data itself; empty when all is well. */
  async verify(): Promise<string> {
    const bin = createRequire(import.meta.url).resolve('throughline/package.json');
    const store = this.#database === undefined ? [] : ['--store', this.#database.url];
    const command = join(dirname(bin), 'bin/throughline.mjs');
    const args = [command, 'verify', '--data', this.folder, ...store];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { timeout: verifyMs }, (error, _out, told) =>
        resolve(error === null ? '' : told.slice(-1_000)),
      );
    });
  }

  async stop(): Promise<void> {
    for (const { kill } of this.#clerks) await kill();
    await this.#desk.stop();
    await this.#database?.stop();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #killClerk(at: number): Promise<void> {
    const victim = this.#clerks[at];
    if (victim === undefined) return;
    await victim.kill();
    this.#clerks[at] = await this.#clerk(Number(new URL(victim.url).port));
  }

  async #clerk(port: number): Promise<Clerk> {
    const file = fileURLToPath(new URL('clerk.ts', import.meta.url));
    const child = fork(file, {
      env: {
        ...process.env,
        CHAOS_HUB: this.hubUrl,
        CHAOS_KEY: await this.#desk.keyFor(clerk, 'agent'),
        CHAOS_PORT: String(port),
        CHAOS_EFFECTS: this.effects,
      },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const log = tailOf(child);
    const kill = async (): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    };
    const signal = AbortSignal.timeout(startMs);
    try {
      const ended = once(child, 'exit', { signal }).then(() => undefined);
      const said = once(child, 'message', { signal });
      const first = await Promise.race([said, ended]);
      return { url: listening.parse(first?.[0]).url, kill };
    } catch (error) {
      await kill();
      throw new Error(`A clerk did not start: ${log()}`, { cause: error });
    }
  }
}

function tailOf(child: ChildProcess): () => string {
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = `${tail}${text}`.slice(-4_000);
  });
  return () => tail;
}
