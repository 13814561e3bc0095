import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openFileContent } from '../content/index.ts';
import { openSqliteStore } from '../store/index.ts';
import { Hub } from './hub.ts';

const mortal = fileURLToPath(new URL('../../test/mortal-hub.ts', import.meta.url));
const desk = { tenant: 't', id: 'desk', role: 'agent' } as const;
const later = 7_200_000;

async function openHub(folder: string, clock: () => Date) {
  const driver = await openFileContent({ path: join(folder, 'content') });
  const store = await openSqliteStore({ path: join(folder, 'hub.sqlite') });
  const hub = await Hub.open({
    store,
    domainKey: new Uint8Array(32).fill(7),
    origin: 'http://hub.test',
    content: { driver },
    clock,
  });
  return { hub, driver, store };
}

/** A case that the desk takes part in. */
async function openCase(hub: Hub): Promise<string> {
  const master = hub.master(desk);
  const self = await master.participant({ kind: 'agent', principal: desk.id });
  const peer = await master.participant({ kind: 'tool', url: 'https://tool.example/' });
  const dialog = master.newId('dialog');
  const activity = dialog.replace('dlg_', 'act_');
  await master.assert([
    { about: activity, statement: { says: 'activity.opened', initiator: self } },
    {
      about: dialog,
      statement: { says: 'dialog.opened', activity, participants: [self, peer], managed: 'none' },
    },
  ]);
  return activity;
}

/** URIs that a hub gave before it was killed after so many, at work on the next. */
async function killedAfter(folder: string, activity: string, count: number): Promise<string[]> {
  const child = spawn(process.execPath, [mortal, folder, activity], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  child.once('exit', () => resolve(undefined));
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (said.split('\n').length > count) child.kill('SIGKILL');
  }
  await promise;
  return said.split('\n').slice(0, -1);
}

it('a hub that is killed while it keeps contents has all that it gave out, and orphans are swept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'killed-'));
  const first = await openHub(folder, () => new Date());
  const activity = await openCase(first.hub);
  await first.hub.close();
  const given: string[] = [];
  for (const count of [1, 4, 9]) given.push(...(await killedAfter(folder, activity, count)));
  expect(given.length).toBeGreaterThanOrEqual(14);
  const { hub, driver, store } = await openHub(folder, () => new Date(Date.now() + later));
  await hub.sweep();
  for (const uri of given) {
    const { bytes } = await hub.master(desk).getContent(uri);
    expect(Buffer.from(bytes).equals(Buffer.alloc(50_000, uri.split('/').at(-1)))).toBe(true);
  }
  const objects = await driver.list('', 1_000);
  expect(objects.length).toBeGreaterThanOrEqual(given.length);
  for (const key of objects) {
    const record = await store.read((reader) => reader.record({ kind: 'content-object', key }));
    expect(record?.shape).toEqual({ state: 'kept' });
  }
  await hub.close();
}, 60_000);
