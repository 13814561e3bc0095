import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ThroughlineError } from '../errors.ts';
import {
  checkDelete,
  checkId,
  checkList,
  checkPut,
  closed,
  isObjectId,
  maxObjectBytes,
  tooLong,
  type ContentDriver,
} from './content.ts';

const privateFile = 0o600;
const privateFolder = 0o700;
/** Where files are written before they get their names. */
const drafts = 'drafts';
/** A draft so old, in milliseconds, is of a process that died. */
const staleMs = 3_600_000;
/** The first letters of an id name its folder, so that no folder grows long. */
const folderLetters = 2;
const folders: readonly string[] = Array.from({ length: 256 }, (_, at) =>
  at.toString(16).padStart(folderLetters, '0'),
);

class FileContent implements ContentDriver {
  readonly #path: string;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  async open(): Promise<void> {
    const place = join(this.#path, drafts);
    await mkdir(place, { recursive: true, mode: privateFolder });
    for (const name of await readdir(place)) {
      const file = join(place, name);
      const { mtimeMs } = (await orMissing(stat(file))) ?? { mtimeMs: Date.now() };
      if (mtimeMs < Date.now() - staleMs) await rm(file, { force: true });
    }
  }

  /** Written beside, then named: a file with a name is whole. */
  async put(id: string, bytes: Uint8Array): Promise<void> {
    checkPut(id, bytes);
    await this.#do(async () => {
      const folder = this.#folderOf(id);
      const file = join(folder, id);
      if ((await mkdir(folder, { recursive: true, mode: privateFolder })) !== undefined) {
        await sync(this.#path);
      }
      if ((await orMissing(stat(file))) === undefined) {
        const draft = join(this.#path, drafts, `${id}.${randomUUID()}`);
        try {
          await write(draft, bytes);
          await rename(draft, file);
        } catch (error) {
          await rm(draft, { force: true });
          throw error;
        }
      }
      // A name that is there already may not be on disk yet.
      await sync(folder);
    });
  }

  async get(id: string): Promise<Uint8Array | undefined> {
    checkId(id);
    return this.#do(async () => {
      const file = await orMissing(openAsIs(join(this.#folderOf(id), id)));
      if (file === undefined) return undefined;
      try {
        const found = await file.stat();
        if (!found.isFile()) throw strange(id);
        if (found.size > maxObjectBytes) throw tooLong(id);
        return new Uint8Array(await file.readFile());
      } finally {
        await file.close();
      }
    });
  }

  async delete(ids: readonly string[]): Promise<void> {
    checkDelete(ids);
    await this.#do(async () => {
      const touched = new Set<string>();
      for (const id of ids) {
        const folder = this.#folderOf(id);
        const found = await orMissing(unlink(join(folder, id)).then(() => true));
        if (found === true) touched.add(folder);
      }
      for (const folder of touched) await sync(folder);
    });
  }

  async list(after: string, limit: number): Promise<readonly string[]> {
    checkList(after, limit);
    return this.#do(async () => {
      const found: string[] = [];
      for (const folder of folders) {
        if (folder < after.slice(0, folderLetters)) continue;
        if (found.length >= limit) break;
        const names = (await orMissing(readdir(join(this.#path, folder)))) ?? [];
        found.push(...names.filter((id) => isObjectId(id) && id > after).toSorted());
      }
      return found.slice(0, limit);
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  #folderOf(id: string): string {
    return join(this.#path, id.slice(0, folderLetters));
  }

  async #do<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed();
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof ThroughlineError) throw cause;
      const code = codeOf(cause) ?? 'a fault';
      throw new ThroughlineError(
        'unavailable',
        `content: the folder ${this.#path} answers with ${code}; check its disk and its rights`,
        { cause },
      );
    }
  }
}

async function write(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', privateFile);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts the names in a folder on disk; Windows does so by itself and opens no folder. */
async function sync(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Neither follows a link to elsewhere nor waits for what writes into a pipe. */
const asIs = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const openAsIs = async (file: string): Promise<FileHandle> => {
  try {
    return await open(file, asIs);
  } catch (error) {
    throw codeOf(error) === 'ELOOP' ? strange(basename(file)) : error;
  }
};

const strange = (id: string): ThroughlineError =>
  new ThroughlineError('damaged', `content: in the place of the object ${id} is no file`);

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

async function orMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * A folder of files, made where missing, for its owner alone. Throws `unavailable` where that can't be
 * done. What was put survives the end of the process at any point, and of the machine.
 */
export async function openFileContent(options: { readonly path: string }): Promise<ContentDriver> {
  const content = new FileContent(resolve(options.path));
  try {
    await content.open();
  } catch (cause) {
    throw new ThroughlineError(
      'unavailable',
      `content: the folder ${options.path} can’t be used (${codeOf(cause) ?? 'a fault'}); check the path and its rights`,
      { cause },
    );
  }
  return content;
}
