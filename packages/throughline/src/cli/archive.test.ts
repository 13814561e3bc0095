import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { HubClient } from '../client/index.ts';
import { openFileContent } from '../content/index.ts';
import { boss, priya, Scene } from '../hub/conformance.ts';
import { openMemoryStore, openSqliteStore } from '../store/index.ts';
import { copyObjects } from './commands/backup.ts';
import { commandsIn, makeCase, type MadeCase } from './conformance.ts';
import { DataFolder } from './data-folder.ts';
import { localPrincipal, startHub, type RunningHub } from './wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'throughline-archive-'));
const at = (name: string): string => join(folder, name);
const secret = 'My cash back looks wrong';

let hub: RunningHub;
let made: MadeCase;
let readUri: (from: RunningHub) => Promise<string>;
const offloaded = 'the terms, offloaded';
const { tell, tellJson } = commandsIn(at('data'));

beforeAll(async () => {
  hub = await startHub({ dataDir: at('data'), port: 0 });
  const keyOf = async (id: string, role: 'agent' | 'caller') =>
    (await hub.hub.createKey(localPrincipal, { principal: { tenant: 'local', id, role } })).key;
  const deskKey = await keyOf('desk', 'agent');
  const client = (key: string) => new HubClient({ url: hub.url, key });
  made = await makeCase({
    desk: client(deskKey),
    reader: client(await keyOf('reader', 'agent')),
    deskKey,
    priyaKey: await keyOf('priya', 'caller'),
  });
  const master = client(deskKey).master();
  const { activity } = await master.locate('run-1');
  const resource = master.newId('resource');
  const content = { activity, resource, mediaType: 'text/plain' };
  await master.putContent({ ...content, bytes: Buffer.from(offloaded) });
  readUri = async (from) =>
    Buffer.from(
      (
        await new HubClient({ url: from.url, key: deskKey })
          .master()
          .getContent(`${from.url}/content/${resource}`)
      ).bytes,
    ).toString();
});
afterAll(async () => {
  await hub.close();
  rmSync(folder, { recursive: true });
});

/** All bytes of the files in a folder, those that are compressed without that. */
function textIn(path: string): string {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name)))
    .map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('latin1'))
    .join('\n');
}

const drafts = (): string[] => readdirSync(folder).filter((name) => name.startsWith('ended.jsonl'));

describe('export and import', () => {
  it('write a case for its owner alone, and take it into a new folder, byte for byte', async () => {
    const file = at('case.jsonl');
    const told = await tellJson('export', made.contextId, '-o', file);
    expect(told).toMatchObject({ file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const there = commandsIn(at('elsewhere'));
    expect(await there.tellJson('import', file)).toMatchObject({ cases: 1, known: 0 });
    expect(await there.tellJson('import', file)).toMatchObject({ cases: 1, known: 1 });
    const other = await startHub({ dataDir: at('elsewhere'), port: 0 });
    try {
      const again = await there.tell('export', made.contextId);
      expect(again).toMatchObject({ exitCode: 0, out: readFileSync(file, 'utf8') });
      expect((await there.tell('case', 'show', made.contextId)).out).toContain(secret);
      expect((await there.tell('export', '--all', '-o', at('all.jsonl'))).err).toBe('');
    } finally {
      await other.close();
    }
    expect(await there.tellJson('verify')).toMatchObject({ findings: [], compared: true });
  });

  it('write to stdout what came, wherever the network cut it', async () => {
    const lines = `{"text":"漢字"}\n{"kind":"end","lines":1,"digest":"${'0'.repeat(64)}"}\n`;
    const bytes = Buffer.from(lines);
    const cut = bytes.indexOf('漢') + 1;
    const server = createServer((_request, response) => {
      response.write(bytes.subarray(0, cut), () => {
        setTimeout(() => response.end(bytes.subarray(cut)), 50);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const told = await tell('export', made.contextId, '--hub', `http://127.0.0.1:${port}`);
    server.close();
    expect(told).toMatchObject({ exitCode: 0, out: lines });
  });

  it('leave nothing of one that was ended, and clear away what one left that was killed', async () => {
    const server = createServer((_request, response) => {
      response.write(`{"text":"${secret}"}\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const file = at('ended.jsonl');
    const end = async (signal: 'SIGINT' | 'SIGKILL'): Promise<void> => {
      const words = [main, 'export', '--all', '-o', file, '--data', at('data')];
      const hubAt = ['--hub', `http://127.0.0.1:${port}`];
      const child = spawn(process.execPath, [...words, ...hubAt], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      const looking = setInterval(() => {
        const [draft] = drafts();
        if (draft !== undefined && statSync(at(draft)).size > 0) child.kill(signal);
      }, 5);
      await ended;
      clearInterval(looking);
    };
    await end('SIGINT');
    expect(drafts()).toEqual([]);
    await end('SIGKILL');
    server.close();
    server.closeAllConnections();
    expect(drafts()).toEqual([expect.stringMatching(/^ended\.jsonl\.\d+\.new$/)]);
    await tellJson('export', '--all', '-o', file);
    expect(drafts()).toEqual(['ended.jsonl']);
  }, 60_000);

  it('refuse what is given wrongly, by its words', async () => {
    const both = await tell('export', made.contextId, '--all');
    expect(both).toMatchObject({ exitCode: 2, out: '' });
    expect((await tell('export', 'ctx_nobody')).exitCode).toBe(1);
    expect((await tell('import', at('none.jsonl'))).exitCode).toBe(2);
    writeFileSync(at('odd.jsonl'), '{"format":"other"}\n');
    const odd = await commandsIn(at('odd')).tell('import', at('odd.jsonl'));
    expect(odd.err).toContain('line 1:');
    expect(odd.exitCode).toBe(2);
  });
});

/** A file with many cases, and what a folder that took it in gives out again. */
async function manyCases(): Promise<{ file: string; text: string }> {
  const scene = await Scene.open(() => openMemoryStore());
  for (let i = 0; i < 60; i++) {
    const task = await scene.task(priya, { text: `case ${i}` }, { text: `about ${i}` });
    await scene.move(task, i % 2 === 0 ? 'completed' : 'failed');
    if (i % 10 === 0) await scene.hub.eraseCase(priya, task.contextId);
  }
  const text = await textOf(scene);
  const file = at('many.jsonl');
  writeFileSync(file, text);
  return { file, text };
}

async function textOf(scene: Scene): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of await scene.hub.archive.exporting.tenant(boss)) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Runs an import in a process of its own and ends it once its database has grown to a size. */
async function killedImport(file: string, data: string, bytes: number): Promise<boolean> {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const words = [main, 'import', file, '--data', data];
  const child = spawn(process.execPath, words, { stdio: 'ignore' });
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | null>();
  child.once('exit', (_code, signal) => resolve(signal));
  const wal = join(data, 'hub.sqlite-wal');
  const looking = setInterval(() => {
    const grown = statSync(wal, { throwIfNoEntry: false })?.size ?? 0;
    if (grown >= bytes) child.kill('SIGKILL');
  }, 2);
  const signal = await promise;
  clearInterval(looking);
  return signal === 'SIGKILL';
}

describe('an import that is killed with -9', () => {
  it('has, run again, the result of one that was not', { timeout: 180_000 }, async () => {
    const { file, text } = await manyCases();
    const seed = Math.floor(Math.random() * 1_000_000);
    let killed = 0;
    for (let i = 0; i < 4; i++) {
      const data = at(`killed-${i}`);
      // The first as soon as there is anything, so that one is killed however fast it is.
      const bytes = 1 + ((seed * i * 7_919) % 1_500) * 1_024;
      if (await killedImport(file, data, bytes)) killed += 1;
      const there = commandsIn(data);
      expect(await there.tellJson('import', file), `seed ${seed}`).toMatchObject({ cases: 60 });
      const domainKey = new DataFolder(data).domainKey(join(data, 'hub.sqlite'));
      const scene = await Scene.open(() => openSqliteStore({ path: join(data, 'hub.sqlite') }), {
        domainKey,
      });
      expect((await textOf(scene)) === text, `seed ${seed}`).toBe(true);
      await scene.hub.close();
    }
    expect(killed).toBeGreaterThan(0);
  });
});

describe('verify', () => {
  it('tells that the end of the log is gone, with all that hung on it', async () => {
    const file = () => join(at('cut-off'), 'hub.sqlite');
    const there = commandsIn(at('cut-off'));
    const closed = await startHub({ dataDir: at('cut-off'), port: 0 });
    await closed.close();
    cpSync(file(), at('older.sqlite'));
    const again = await startHub({ dataDir: at('cut-off'), port: 0 });
    const master = again.hub.master(localPrincipal);
    const party = { kind: 'tool', url: 'https://tool.example/' } as const;
    await master.participant(party);
    await there.tellJson('backup', '-o', at('cut-data'), '--keys', at('cut-keys'));
    await again.close();
    for (const against of ['cut-data', 'cut-keys']) {
      const whole = await there.tellJson('verify', '--against', at(against));
      expect(whole).toMatchObject({ findings: [], compared: true });
    }
    copyFileSync(at('older.sqlite'), file());
    const gone = { exitCode: 1, out: expect.stringContaining('the log was cut off') };
    expect(await there.tell('verify')).toMatchObject(gone);
    const failures: unknown[] = [];
    const onFailure = ({ error }: { error: unknown }): void => void failures.push(error);
    const cut = await startHub({ dataDir: at('cut-off'), port: 0, onFailure });
    await cut.close();
    expect(failures).toContainEqual(
      expect.objectContaining({ code: 'damaged', message: expect.stringContaining('head.json') }),
    );
    expect(await there.tell('verify')).toMatchObject(gone);
    rmSync(join(at('cut-off'), 'head.json'));
    expect(await there.tell('verify')).toMatchObject({ exitCode: 0 });
    expect(await there.tell('verify', '--against', at('cut-keys'))).toMatchObject(gone);
    const foreign = await tell('verify', '--against', at('cut-keys'));
    expect(foreign).toMatchObject({ exitCode: 1, err: expect.stringContaining('another hub') });
  });

  it('finds a running hub in order, and names a folder that holds none', async () => {
    const { out, exitCode } = await tell('verify');
    expect(out).toMatch(/^ok {2}\d+ entries, \d+ rows\n$/);
    expect(exitCode).toBe(0);
    const none = await commandsIn(at('nothing')).tell('verify');
    expect(none).toMatchObject({ exitCode: 2 });
    expect(existsSync(at('nothing'))).toBe(false);
  });
});

describe('backup and restore', () => {
  it('copy a running hub, keys apart, and bring it up elsewhere', async () => {
    await hub.hub.master(localPrincipal).participant({ kind: 'user', principal: 'local' });
    const told = await tellJson('backup', '-o', at('monday'), '--keys', at('keys'));
    expect(told).toMatchObject({ seq: (await hub.hub.health()).seq });
    expect(textIn(at('monday'))).not.toContain(secret);
    expect(textIn(at('monday'))).not.toContain(
      readFileSync(join(at('keys'), 'domain.key'), 'utf8').trim(),
    );
    expect(statSync(at('monday')).mode & 0o077).toBe(0);
    const data = at('restored');
    const there = commandsIn(data);
    expect(await there.tellJson('restore', at('monday'), '--keys', at('keys'))).toMatchObject({
      data,
    });
    expect(await there.tellJson('verify')).toMatchObject({ findings: [], compared: true });
    const other = await startHub({ dataDir: data, port: 0 });
    try {
      const [here, copy] = [
        await tell('case', 'show', made.contextId),
        await there.tell('case', 'show', made.contextId),
      ];
      expect(copy.out).toBe(here.out);
      expect(await readUri(other)).toBe(offloaded);
    } finally {
      await other.close();
    }
    const onto = await there.tell('restore', at('monday'), '--keys', at('keys'));
    expect(onto).toMatchObject({ exitCode: 1 });
    expect((await tell('backup', '-o', at('monday'), '--keys', at('keys'))).exitCode).toBe(1);
  });

  it('leave out bytes that came while the backup was made, which no row tells of', async () => {
    await tellJson('backup', '-o', at('tuesday'), '--keys', at('tuesday-keys'));
    const content = await openFileContent({ path: join(at('tuesday'), 'content') });
    const [known = ''] = await content.list('', 1);
    const unknown = 'f'.repeat(32);
    await content.put(unknown, new Uint8Array([1]));
    const { objects, sha256 } = await copyObjects(content);
    const file = join(at('tuesday'), 'manifest.json');
    const manifest = z.looseObject({}).parse(JSON.parse(readFileSync(file, 'utf8')));
    writeFileSync(file, JSON.stringify({ ...manifest, content: { objects, sha256 } }));
    const there = commandsIn(at('of-tuesday'));
    await there.tellJson('restore', at('tuesday'), '--keys', at('tuesday-keys'));
    const restored = await openFileContent({ path: join(at('of-tuesday'), 'content') });
    expect(await restored.get(known)).toEqual(await content.get(known));
    expect(await restored.get(unknown)).toBeUndefined();
  });

  it('keep erased what was erased since, given the newer keys', async () => {
    const credential = `Bearer ${hub.localKey}`;
    const by = await hub.hub.authenticate(credential);
    await tellJson('backup', '-o', at('before'), '--keys', at('old-keys'));
    cpSync(at('old-keys'), at('new-keys'), { recursive: true });
    await hub.hub.eraseCase(by, made.contextId);
    await tellJson('backup', '--keys', at('new-keys'));
    const old = commandsIn(at('with-old'));
    await old.tellJson('restore', at('before'), '--keys', at('old-keys'));
    const fresh = commandsIn(at('with-new'));
    await fresh.tellJson('restore', at('before'), '--keys', at('new-keys'));
    for (const [commands, isThere] of [
      [old, true],
      [fresh, false],
    ] as const) {
      const data = commands === old ? at('with-old') : at('with-new');
      expect(await commands.tellJson('verify')).toMatchObject({ findings: [] });
      const other = await startHub({ dataDir: data, port: 0 });
      try {
        const { out } = await commands.tell('export', '--all');
        expect(out.includes(secret)).toBe(isThere);
        expect(out).toContain('"kind":"case"');
      } finally {
        await other.close();
      }
    }
    const mixed = await commandsIn(at('mixed')).tell(
      'restore',
      at('before'),
      '--keys',
      at('elsewhere'),
    );
    expect(mixed.exitCode).toBe(1);
    await tellJson('backup', '-o', at('after'), '--keys', at('new-keys'));
    const older = await commandsIn(at('mixed')).tell(
      'restore',
      at('after'),
      '--keys',
      at('old-keys'),
    );
    expect(older.err).toContain('is older than the data');
  });

  it('leave no half data folder where a restore is killed, and make it whole run again', async () => {
    await tellJson('backup', '-o', at('whole'), '--keys', at('whole-keys'));
    const data = at('killed-restore');
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const words = [main, 'restore', at('whole'), '--keys', at('whole-keys'), '--data', data];
    const child = spawn(process.execPath, words, { stdio: 'ignore' });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    child.once('exit', () => resolve(undefined));
    const looking = setInterval(() => {
      if (existsSync(join(`${data}.restoring`, 'hub.sqlite'))) child.kill('SIGKILL');
    }, 1);
    await promise;
    clearInterval(looking);
    expect(existsSync(`${data}.restoring`)).toBe(true);
    expect(existsSync(data)).toBe(false);
    const there = commandsIn(data);
    await there.tellJson('restore', at('whole'), '--keys', at('whole-keys'));
    expect(existsSync(`${data}.restoring`)).toBe(false);
    expect(await there.tellJson('verify')).toMatchObject({ findings: [], compared: true });
  });

  it('make no store where one is named wrongly, and put no other keys over those of a hub', async () => {
    await tellJson('backup', '--keys', at('own-keys'));
    const kept = textIn(at('own-keys'));
    const store = at('no-such.sqlite');
    for (const words of [['backup', '--keys', at('own-keys')], ['verify']]) {
      const wrong = await tell(...words, '--store', store);
      expect(wrong).toMatchObject({ exitCode: 2, err: expect.stringContaining('holds no hub') });
      expect(existsSync(store)).toBe(false);
    }
    const domainKey = new DataFolder(at('data')).domainKey(at('data'));
    await (await Scene.open(() => openSqliteStore({ path: store }), { domainKey })).hub.close();
    const other = await tell('backup', '--keys', at('own-keys'), '--store', store);
    expect(other).toMatchObject({ exitCode: 1, err: expect.stringContaining('another hub') });
    expect(textIn(at('own-keys'))).toBe(kept);
    await tellJson('backup', '-o', at('own'), '--keys', at('own-keys'));
    const words = ['restore', at('own'), '--keys', at('own-keys'), '--store', store];
    const onto = await commandsIn(at('onto')).tell(...words);
    expect(onto).toMatchObject({ exitCode: 1, err: expect.stringContaining('is not empty') });
    expect(readdirSync(folder).filter((name) => name.startsWith('onto'))).toEqual([]);
  });

  it('know a backup that broke off, a changed one, and a newer one', async () => {
    await tellJson('backup', '-o', at('good'), '--keys', at('good-keys'));
    const restore = (from: string) =>
      commandsIn(at('never')).tell('restore', from, '--keys', at('good-keys'));
    const altered = (name: string, change: (path: string) => void): string => {
      cpSync(at('good'), at(name), { recursive: true });
      change(at(name));
      return at(name);
    };
    const cases: [string, RegExp][] = [
      [altered('cut', (path) => rmSync(join(path, 'manifest.json'))), /holds no whole backup/],
      [
        altered('bits', (path) => {
          const file = join(path, 'rows.jsonl.gz');
          const bytes = readFileSync(file);
          bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
          writeFileSync(file, bytes);
        }),
        /not as it was written/,
      ],
      [
        altered('newer', (path) => {
          const file = join(path, 'manifest.json');
          writeFileSync(file, readFileSync(file, 'utf8').replace('"version": 1', '"version": 2'));
        }),
        /use a newer program/,
      ],
      [
        altered('lost', (path) => rmSync(join(path, 'rows.jsonl.gz'))),
        /is missing or not as it was written/,
      ],
    ];
    for (const [from, words] of cases) {
      const { err, exitCode } = await restore(from);
      expect(err).toMatch(words);
      expect(exitCode).toBe(1);
      expect(existsSync(at('never'))).toBe(false);
    }
    copyFileSync(join(at('good'), 'manifest.json'), join(at('good-keys'), 'manifest.json'));
    expect((await restore(at('good'))).err).toContain('where keys are asked for');
  });
});
