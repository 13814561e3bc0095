import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isAlive } from './is-alive.ts';

const privateFile = 0o600;

/** Writes the whole of a file for its owner alone, or leaves what was there; on the disk when it returns. */
export function writePrivate(file: string, text: string): void {
  const draft = draftOf(file);
  writeFileSync(draft, text, { mode: privateFile, flag: 'wx', flush: true });
  nameDraft(draft, file);
}

/** Where a file is written before it gets its name. Clears what is left of processes that died at that. */
export function draftOf(file: string): string {
  const [folder, begin, end] = [dirname(file), `${basename(file)}.`, '.new'];
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(begin) || !name.endsWith(end)) continue;
    const pid = name.slice(begin.length, -end.length);
    const isLeft = pid === String(process.pid) || !isAlive(Number(pid));
    if (/^\d{1,10}$/.test(pid) && isLeft) rmSync(join(folder, name), { force: true });
  }
  return join(folder, begin + process.pid + end);
}

/** Gives a draft, which is on the disk, the name that it is for. */
export function nameDraft(draft: string, file: string): void {
  renameSync(draft, file);
  syncFolder(dirname(file));
}

/** Puts the names in a folder on disk; Windows does so by itself and opens no folder. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}
