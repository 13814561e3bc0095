import { createHash, type Hash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { writePrivate } from './whole-file.ts';

export const backupVersion = 1;
const privateFile = 0o600;
const privateFolder = 0o700;
/** Bytes that are compressed together. */
const pieceBytes = 1_048_576;

const fileSchema = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,128}$/),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type BackupFile = z.infer<typeof fileSchema>;

/** What a backup says of itself; written last, so that one without it is none. */
const manifestSchema = z.strictObject({
  format: z.literal('throughline-backup'),
  version: z.int().positive(),
  /** `data`: everything sealed; `keys`: what opens it, and what was erased or taken back. */
  holds: z.enum(['data', 'keys']),
  at: z.iso.datetime(),
  seq: z.int().nonnegative(),
  hash: z.string(),
  incarnation: z.string(),
  rows: z.int().nonnegative(),
  file: fileSchema,
  /** Objects in the folder `content`, and SHA-256 over a line with id and digest of each. */
  content: z.strictObject({ objects: z.int(), sha256: z.string() }).exactOptional(),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Lines of text in one compressed file, written at once: nothing may be waited for meanwhile. */
export class LineFile {
  readonly #path: string;
  readonly #name: string;
  readonly #descriptor: number;
  readonly #digest: Hash = createHash('sha256');
  #bytes = 0;
  #pending: string[] = [];
  #length = 0;

  constructor(folder: string, name: string) {
    this.#name = name;
    this.#path = join(folder, name);
    this.#descriptor = openSync(this.#path, 'wx', privateFile);
  }

  write(lines: string): void {
    this.#pending.push(lines);
    this.#length += lines.length;
    if (this.#length >= pieceBytes) this.#flush();
  }

  /** On the disk. */
  finish(): BackupFile {
    this.#flush();
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    return { name: this.#name, bytes: this.#bytes, sha256: this.#digest.digest('hex') };
  }

  /** A file may hold several compressed pieces, one behind the other. */
  #flush(): void {
    const piece = gzipSync(this.#pending.join(''));
    [this.#pending, this.#length] = [[], 0];
    this.#digest.update(piece);
    this.#bytes += piece.length;
    for (let from = 0; from < piece.length;) from += writeSync(this.#descriptor, piece, from);
  }
}

/** A folder for a backup, made where missing, for its owner alone. */
export function makeFolder(path: string): string {
  const folder = resolve(path);
  mkdirSync(folder, { recursive: true, mode: privateFolder });
  return folder;
}

/** Refuses a folder that something is in already. */
export function needEmpty(option: string, path: string): void {
  const folder = resolve(path);
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  const isBackup = existsSync(join(folder, manifestName));
  throw new ThroughlineError(
    'conflict',
    isBackup || option !== '--output'
      ? `${option} ${folder}: is not empty, and nothing is overwritten; name a new folder`
      : `${option} ${folder}: holds something, perhaps a backup that broke off; delete it, or name a new folder`,
  );
}

export const manifestName = 'manifest.json';

export const writeManifest = (folder: string, manifest: Manifest): void =>
  writePrivate(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);

/** The manifest in a folder, with its digest; refuses what is none, broke off, or is newer. */
export function readManifest(
  path: string,
  holds?: Manifest['holds'],
): { manifest: Manifest; id: string } {
  const folder = resolve(path);
  const file = join(folder, manifestName);
  if (!existsSync(file)) {
    throw new ThroughlineError(
      'damaged',
      `${folder}: holds no whole backup: ${manifestName}, which is written last, is missing`,
    );
  }
  const text = readFileSync(file, 'utf8');
  const value = parseJson(file, text);
  const version = z.looseObject({ version: z.int() }).safeParse(value).data?.version ?? 0;
  if (version > backupVersion) {
    throw new ThroughlineError(
      'newer-version',
      `${file}: the backup has version ${version}, this program knows ${backupVersion}; use a newer program`,
    );
  }
  const manifest = manifestSchema.safeParse(value);
  if (!manifest.success) throw notOne(file);
  if (holds !== undefined && manifest.data.holds !== holds) {
    const { holds: has } = manifest.data;
    throw new ThroughlineError('invalid', `${folder}: holds ${has}, where ${holds} are asked for`);
  }
  return { manifest: manifest.data, id: createHash('sha256').update(text).digest('hex') };
}

const notOne = (file: string): ThroughlineError =>
  new ThroughlineError('damaged', `${file}: is not what backup writes; take another backup`);

function parseJson(file: string, text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw notOne(file);
  }
}

/** Throws `damaged` where a file is not the one that the manifest tells of. */
export async function checkFile(
  folder: string,
  { name, bytes, sha256 }: BackupFile,
): Promise<void> {
  const path = join(resolve(folder), name);
  const digest = createHash('sha256');
  let size = 0;
  if (existsSync(path)) {
    for await (const chunk of createReadStream(path)) {
      if (!(chunk instanceof Uint8Array)) continue;
      digest.update(chunk);
      size += chunk.length;
    }
  }
  if (size === bytes && digest.digest('hex') === sha256) return;
  throw new ThroughlineError(
    'damaged',
    `${path}: is missing or not as it was written; use another backup`,
  );
}

/** Lines of a compressed file, from the first on. */
export async function* linesOf(folder: string, { name }: BackupFile): AsyncGenerator<string> {
  const input = createReadStream(join(resolve(folder), name)).pipe(createGunzip());
  yield* createInterface({ input, crlfDelay: Infinity });
}
