import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { newObjectId } from './conformance.ts';
import { openFileContent } from './files.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'content-'));
const mortal = fileURLToPath(new URL('../../test/mortal-content.ts', import.meta.url));

/** A tool of the machine's own. */
const pipeMaker = 'mkfifo';

/** Ids that a process said were kept before it was killed after so many. */
async function killedAfter(path: string, count: number): Promise<string[]> {
  const child = spawn(process.execPath, [mortal, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  child.once('exit', () => resolve(undefined));
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (said.split('\n').length > count) child.kill('SIGKILL');
  }
  await promise;
  return said.split('\n').filter((id) => id.length === 32);
}

it('has whole files only, and all that was said to be kept, after a process was killed', async () => {
  const path = folder();
  for (const count of [1, 5, 9]) {
    const kept = await killedAfter(path, count);
    const content = await openFileContent({ path });
    const all = await content.list('', 1_000);
    expect(all).toEqual(expect.arrayContaining(kept));
    for (const id of all) {
      const bytes = Buffer.alloc(200_000, createHash('sha256').update(id).digest());
      expect(Buffer.from((await content.get(id)) ?? []).equals(bytes)).toBe(true);
    }
  }
}, 30_000);

it('is for its owner alone', async () => {
  const path = join(folder(), 'content');
  const content = await openFileContent({ path });
  const id = newObjectId();
  await content.put(id, new Uint8Array([1]));
  expect(statSync(path).mode & 0o077).toBe(0);
  expect(statSync(join(path, id.slice(0, 2), id)).mode & 0o077).toBe(0);
});

it('clears what a dead process left half written, and nothing that is being written', async () => {
  const path = folder();
  await openFileContent({ path });
  const [old, fresh] = [join(path, 'drafts', 'old'), join(path, 'drafts', 'fresh')];
  for (const file of [old, fresh]) writeFileSync(file, 'x');
  utimesSync(old, new Date(0), new Date(0));
  await openFileContent({ path });
  expect(readdirSync(join(path, 'drafts'))).toEqual(['fresh']);
});

it('serves nothing longer than what is ever put', async () => {
  const path = folder();
  const content = await openFileContent({ path });
  const id = newObjectId();
  await content.put(id, new Uint8Array([1]));
  writeFileSync(join(path, id.slice(0, 2), id), new Uint8Array(8_400_000));
  await expect(content.get(id)).rejects.toMatchObject({ code: 'damaged' });
});

it('reads nothing but files: no link to elsewhere, no pipe that waits, no folder', async () => {
  const path = folder();
  const content = await openFileContent({ path });
  const elsewhere = join(folder(), 'elsewhere');
  writeFileSync(elsewhere, 'secret');
  const makes: ((at: string) => void)[] = [
    (at) => symlinkSync(elsewhere, at),
    (at) => execFileSync(pipeMaker, [at]),
    (at) => mkdirSync(at),
  ];
  for (const make of makes) {
    const id = newObjectId();
    await content.put(id, new Uint8Array([1]));
    const at = join(path, id.slice(0, 2), id);
    rmSync(at);
    make(at);
    await expect(content.get(id)).rejects.toMatchObject({ code: 'damaged' });
  }
});

it('says that a folder that is none can’t be used', async () => {
  const file = join(folder(), 'file');
  writeFileSync(file, 'x');
  chmodSync(file, 0o400);
  await expect(openFileContent({ path: file })).rejects.toMatchObject({ code: 'unavailable' });
});
