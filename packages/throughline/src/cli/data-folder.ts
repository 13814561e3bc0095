import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { Head } from '../hub/archive/backup.ts';
import { isAlive } from './is-alive.ts';
import { writePrivate } from './whole-file.ts';

/** Folder that a hub keeps its files in, unless told otherwise. */
export const defaultDataFolder = '.throughline';

const domainKeyBytes = 32;
const privateFolder = 0o700;
const forOthers = 0o077;

const hubFileSchema = z.object({
  version: z.literal(1),
  url: z.url(),
  /** Process that serves it. */
  pid: z.int().optional(),
});

const headSchema = z.object({
  version: z.literal(1),
  seq: z.int().nonnegative(),
  hash: z.string(),
  incarnation: z.string(),
});

/** The files of a hub: its database, its keys, and where it is reached. */
export class DataFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /** A name of this folder on this machine: one hub at a time serves it. */
  get seat(): string {
    return createHash('sha256').update(`${hostname()} ${this.path}`).digest('base64url');
  }

  get database(): string {
    return join(this.path, 'hub.sqlite');
  }

  get localKeyFile(): string {
    return join(this.path, 'local.key');
  }

  get headFile(): string {
    return join(this.path, 'head.json');
  }

  get #hubFile(): string {
    return join(this.path, 'hub.json');
  }

  /** Makes the folder, for its owner alone. */
  create(): void {
    mkdirSync(this.path, { recursive: true, mode: privateFolder });
  }

  /**
   * The key that everything in the database is sealed under: from `file`, else from the folder, made
   * at the first start. Throws `damaged` when there is a database and no key for it, or no key in it.
   */
  domainKey(database: string, file = join(this.path, 'domain.key')): Uint8Array {
    if (!existsSync(file)) {
      if (existsSync(database)) {
        throw new ThroughlineError(
          'damaged',
          `${file}: is missing, and ${database} can’t be read without it; put the key file back`,
        );
      }
      writePrivate(file, `${randomBytes(domainKeyBytes).toString('base64url')}\n`);
    }
    const key = Buffer.from(readPrivate(file), 'base64url');
    if (key.length === domainKeyBytes) return new Uint8Array(key);
    throw new ThroughlineError('damaged', `${file}: holds no domain key; put the right file back`);
  }

  /** The API key in the folder, or undefined before the first start. */
  localKey(): string | undefined {
    return existsSync(this.localKeyFile) ? readPrivate(this.localKeyFile) : undefined;
  }

  writeLocalKey(key: string): void {
    writePrivate(this.localKeyFile, `${key}\n`);
  }

  /** Where the hub of this folder was last started. */
  hubUrl(): string | undefined {
    return this.#hub()?.url;
  }

  /** Throws `conflict` while another process serves this folder: its address would be lost here. */
  async claim(): Promise<void> {
    const hub = this.#hub();
    if (hub?.pid === undefined || hub.pid === process.pid || !isAlive(hub.pid)) return;
    const answer = await fetch(new URL('/health', hub.url), {
      signal: AbortSignal.timeout(2_000),
    }).catch(() => undefined);
    if (answer?.ok !== true) return;
    throw new ThroughlineError(
      'conflict',
      `${this.path}: the hub at ${hub.url} (process ${hub.pid}) uses this folder; end it first, or name another with --data`,
    );
  }

  #hub(): z.infer<typeof hubFileSchema> | undefined {
    return parsed(this.#hubFile, hubFileSchema);
  }

  writeHubUrl(url: string): void {
    writePrivate(this.#hubFile, `${JSON.stringify({ version: 1, url, pid: process.pid })}\n`);
  }

  /** Where the log ended when a hub looked last, for whoever finds it shorter. */
  head(): Head | undefined {
    return parsed(this.headFile, headSchema);
  }

  writeHead(head: Head): void {
    writePrivate(this.headFile, `${JSON.stringify({ version: 1, ...head })}\n`);
  }
}

function parsed<T>(file: string, schema: z.ZodType<T>): T | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new ThroughlineError(
      'damaged',
      `${file}: can’t be understood; delete it and start the hub again`,
    );
  }
}

/** Text of a file that only its owner may read. Throws `invalid` when others may, too. */
export function readPrivate(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new ThroughlineError('invalid', `${file}: can’t be read; check the path and its rights`, {
      cause,
    });
  }
  if (process.platform !== 'win32' && (statSync(file).mode & forOthers) !== 0) {
    throw new ThroughlineError(
      'invalid',
      `${file}: holds a secret, and others on this machine may read it; run: chmod 600 ${file}`,
    );
  }
  return text;
}
