import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { freePort } from './free-port.ts';
import { repository } from './source.ts';

const run = promisify(execFile);
const guide = readFileSync(join(repository, 'docs/guide.md'), 'utf8');
const children: ChildProcess[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const child of children.splice(0).toReversed()) {
    const ended =
      child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await ended;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Files that the guide shows, by the name in their first line. */
function filesIn(markdown: string): Map<string, string> {
  const blocks = [
    ...markdown.matchAll(/^```(?:ts|yaml)\n(?:\/\/|#) ([\w.]+)[^\n]*\n(.*?)^```$/gms),
  ];
  return new Map(blocks.map(([, name = '', text = '']) => [name, text]));
}

/** Waits until something answers there. */
async function until(url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const up = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (up) return;
    await sleep(100);
  }
  throw new Error(`nothing answers at ${url}`);
}

it('the guide says of names where they are imported from, and they are there', async () => {
  const rows = [...guide.matchAll(/^\| `throughline\/(\w+)` +\| (`.+`) +\|$/gm)];
  expect(rows).toHaveLength(3);
  for (const [, subpath = '', names = ''] of rows) {
    const specifier = `throughline/${subpath}`;
    const module: unknown = await import(/* @vite-ignore */ specifier);
    const named = [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(Object.keys(Object(module)), subpath).toEqual(expect.arrayContaining(named));
  }
});

it('the guide runs as it is written', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guide-'));
  folders.push(folder);
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const hub = await freePort();
  // Three neighbours in a row, as in the guide.
  const desk = await freePort(3);
  const files = filesIn(guide);
  expect([...files.keys()].toSorted().join(' ')).toBe(
    'agents.yaml answer.yaml as.ts client.ts desk.ts hub.ts steer.ts sum.yaml summer.ts watch.ts workers.ts',
  );
  for (const [name, text] of files) {
    const ported = text
      .replaceAll('4680', String(hub))
      .replaceAll('4701', String(desk))
      .replaceAll('4702', String(desk + 1))
      .replaceAll('4703', String(desk + 2));
    writeFileSync(join(folder, name), ported);
  }
  const start = (file: string): void => {
    children.push(spawn(process.execPath, [file], { cwd: folder, stdio: 'ignore' }));
  };
  start('hub.ts');
  await until(`http://127.0.0.1:${hub}/health`);
  const bin = join(repository, 'packages/throughline/bin/throughline.mjs');
  const cli = async (...args: string[]) => run(process.execPath, [bin, ...args], { cwd: folder });
  for (const id of ['desk', 'boss', 'finder', 'writer']) {
    await cli('key', 'create', id, '--role', 'agent', '--out', `${id}.key`);
  }
  for (const id of ['priya', 'mallory']) await cli('key', 'create', id, '--out', `${id}.key`);
  start('workers.ts');
  start('desk.ts');
  const card = '.well-known/agent-card.json';
  await until(`http://127.0.0.1:${desk + 2}/${card}`);
  await until(`http://127.0.0.1:${desk}/${card}`);
  const { stdout } = await run(process.execPath, ['client.ts'], { cwd: folder });
  const [contextId = ''] = stdout.split(' ');
  expect(stdout).toContain('Thank you. We noted: My bill of 3 May is 40 euros');
  expect(stdout).toContain('Thank you. We noted: It is 45 by now');
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('context-refused');
  const shown = await cli('case', 'show', contextId);
  expect(shown.stdout.match(/withheld +phone number/g)).toHaveLength(2);
  expect(shown.stdout.match(/→ (?:finder|writer)/g)).toHaveLength(4);
  const watch = spawn(process.execPath, ['watch.ts', contextId], { cwd: folder });
  children.push(watch);
  const lines = createInterface({ input: watch.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toMatch(/^\d+ tasks so far$/);
  await cli('case', 'label', contextId, 'ticket=1234');
  expect((await lines.next()).value).toMatch(/^\d+ activity\.labelled$/);
  const letter = 'letter=We had 3 rooms. One cost 40. Bye';
  const summed = await cli('run', 'sum.yaml', '--agents', 'agents.yaml', '--input', letter);
  expect(summed.stdout).toContain('All figures together: 43');
  const steered = await run(process.execPath, ['steer.ts'], { cwd: folder });
  const said = steered.stdout.trimEnd().split('\n');
  const ended = said.filter((line) => !/^find \w+, again \w+$/.test(line));
  const paused = ['suspended', 'modify find, modify again'];
  expect(ended).toEqual([...paused, 'completed', ...paused, 'cancelled']);
});
