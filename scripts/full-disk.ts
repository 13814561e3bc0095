import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** What a run of an example or two takes, with room for the journal of its database. */
const neededBytes = 64 * 2 ** 20;
const megabytes = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MB`;

const advice = 'make room and run it again, or name another place: TMPDIR=FOLDER';

function freeIn(folder: string): number {
  let there = folder;
  while (!existsSync(there)) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  return bavail * bsize;
}

/** Refuses to begin what would stop in the middle. @throws Error that says where and what to do. */
export function needRoom(folder: string, free: number = freeIn(folder)): void {
  if (free >= neededBytes) return;
  throw new Error(
    `The disk of ${folder} is full: ${megabytes(free)} are left and ${megabytes(neededBytes)} are needed; ${advice}`,
  );
}

const isFull = /\bENOSPC\b|\bEDQUOT\b|\bSQLITE_FULL\b|no space left on device|disk is full/i;

/** What to say of an error that ends a script: of a disk that filled up meanwhile what to do, no stack. */
export function lastWords(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const isTold = said.includes(advice);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return !isTold && isFull.test(`${code} ${said}`) ? `The disk is full; ${advice}` : said;
}

/** Ends the process with 1 on whatever nobody caught, such as a write that the disk refuses. */
export function endOnUncaught(): void {
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${isFull.test(String(error)) ? lastWords(error) : error.stack}\n`);
    process.exit(1);
  });
}
