import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HubClient } from '../client/index.ts';
import type { Principal } from '../model/principal.ts';
import { makeCase } from './conformance.ts';
import { run } from './program.ts';
import { localPrincipal, startHub, type RunningHub } from './wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'throughline-'));
let hub: RunningHub;
let contextId: string;

beforeAll(async () => {
  hub = await startHub({ dataDir: folder, port: 0 });
  const keyOf = async (id: string, role: Principal['role']) =>
    (await hub.hub.createKey(localPrincipal, { principal: { tenant: 'local', id, role } })).key;
  const deskKey = await keyOf('desk', 'agent');
  const client = (key: string) => new HubClient({ url: hub.url, key });
  const [desk, reader] = [client(deskKey), client(await keyOf('reader', 'agent'))];
  ({ contextId } = await makeCase({
    desk,
    reader,
    deskKey,
    priyaKey: await keyOf('priya', 'caller'),
  }));
});
afterAll(async () => {
  await hub.close();
  rmSync(folder, { recursive: true });
});

/** The command under way, with a key of its own that a test can end. */
async function following(...more: readonly string[]) {
  const principal: Principal = { tenant: 'local', id: 'watcher', role: 'operator' };
  const { id, key } = await hub.hub.createKey(localPrincipal, { principal });
  const keyFile = join(folder, `${id}.key`);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const [out, err] = [[] as string[], [] as string[]];
  const surroundings = {
    stdout: {
      write: (text: string) => out.push(...text.split('\n').filter((line) => line !== '')),
    },
    stderr: { write: (text: string) => err.push(text) },
    env: {},
  };
  const words = ['case', 'show', contextId, '--timeline', '--follow', '--hub', hub.url];
  const ending = run([...words, '--key-file', keyFile, ...more], surroundings);
  return { out, err, ending, end: () => hub.hub.revokeKey(localPrincipal, id) };
}

const label = (value: string) =>
  hub.hub.labelCase(localPrincipal, contextId, { label: { name: 'step', value } });
const timeline = async () => (await hub.hub.timeline(localPrincipal, contextId)).assertions;

it('shows the timeline and each new row once, until the key counts no more', async () => {
  const before = (await timeline()).length;
  const { out, err, ending, end } = await following();
  while (out.length < before) await sleep(5);
  await label('one');
  await label('two');
  while (out.length < before + 2) await sleep(5);
  await end();
  await label('three');
  expect(await ending).toBe(4);
  expect(out).toHaveLength(before + 2);
  expect(out.slice(-2)).toEqual([
    expect.stringMatching(
      /^\d+ {2}[\d:]{8} {2}prt_\w{26}: act_\w{26} labelled step “one” \[supervised\]$/,
    ),
    expect.stringContaining('labelled step “two”'),
  ]);
  expect(err.join('')).toContain('throughline:');
});

it('gives programs one object a line', async () => {
  const { out, ending, end } = await following('--json');
  while (out.length < (await timeline()).length) await sleep(5);
  await end();
  await label('unseen');
  expect(await ending).toBe(4);
  const lines = out.map((line): unknown => JSON.parse(line));
  const all = (await timeline()).slice(0, -1);
  expect(lines).toEqual(all.map((assertion) => ({ version: 1, assertion })));
});
