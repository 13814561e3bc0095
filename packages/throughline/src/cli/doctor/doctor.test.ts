import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openSqliteStore } from '../../store/index.ts';
import { startPostgres } from '../../store/postgres/conformance.ts';
import { inspectPostgresStore, openPostgresStore } from '../../store/postgres/index.ts';
import { commandsIn } from '../conformance.ts';
import { startHub } from '../wire.ts';
import { lookAtClock, lookAtVersion } from './hub.ts';
import { lookAtNode, lookAtPort, lookForTool } from './machine.ts';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'throughline-')), 'data');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const make = (mode = 0o700): void => {
  mkdirSync(folder, { mode });
  chmodSync(folder, mode);
};

const checksSchema = z.object({
  checks: z.array(z.object({ name: z.string(), state: z.string(), saw: z.string() })),
});

/** What a doctor says of a folder without a hub, by name of the check. */
async function doctor(...words: string[]) {
  const { exitCode, out } = await commandsIn(folder).tell('doctor', '--json', ...words);
  const { checks } = checksSchema.parse(JSON.parse(out));
  return { exitCode, checks: Object.fromEntries(checks.map((each) => [each.name, each])) };
}

describe('a doctor', () => {
  it('finds no hub where none was started, and says how to start one', async () => {
    const { exitCode, checks } = await doctor();
    expect(exitCode).toBe(3);
    expect(checks).toMatchObject({
      node: { state: 'ok' },
      'data-folder': { state: 'warn' },
      'key-files': { state: 'warn' },
      store: { state: 'warn' },
      disk: { state: 'ok' },
      'hub-answers': { state: 'fail' },
    });
    expect(checks['hub-answers']?.saw).toContain('throughline serve');
  });

  it('warns of a folder that is open to others, and refuses keys that are', async () => {
    make(0o755);
    writeFileSync(join(folder, 'domain.key'), 'x', { mode: 0o600 });
    writeFileSync(join(folder, 'local.key'), 'x', { mode: 0o644 });
    const { exitCode, checks } = await doctor();
    expect(checks).toMatchObject({
      'data-folder': { state: 'warn' },
      'key-files': { state: 'fail', saw: expect.stringContaining('chmod 600') },
    });
    expect(exitCode).toBe(2);
  });

  it('misses the key of a database, and sees what is no database', async () => {
    make();
    await (await openSqliteStore({ path: join(folder, 'hub.sqlite') })).close();
    expect((await doctor()).checks).toMatchObject({
      'key-files': { state: 'fail', saw: expect.stringContaining('put the key file back') },
      store: { state: 'ok', saw: expect.stringContaining('schema version 1') },
    });
    writeFileSync(join(folder, 'hub.sqlite'), 'x'.repeat(10_000));
    expect((await doctor()).checks).toMatchObject({ store: { state: 'fail' } });
  });

  it('tells the key of another hub from the one that a database was written under', async () => {
    await (await startHub({ dataDir: folder, port: 0 })).close();
    expect((await doctor()).checks).toMatchObject({ store: { state: 'ok' } });
    const file = join(folder, 'domain.key');
    writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64url')}\n`);
    expect((await doctor()).checks).toMatchObject({
      store: { state: 'fail', saw: expect.stringContaining(`${file}: is not the key`) },
    });
    writeFileSync(file, 'short');
    expect((await doctor()).checks).toMatchObject({ store: { state: 'fail' } });
  });

  it('says of a key that does not count that alone, and not that the hub is none', async () => {
    const hub = await startHub({ dataDir: folder, port: 0 });
    writeFileSync(join(folder, 'local.key'), `tlk_${'x'.repeat(43)}\n`);
    const { exitCode, checks } = await doctor();
    await hub.close();
    expect(checks).toMatchObject({ 'key-is-valid': { state: 'fail' }, clock: { state: 'ok' } });
    expect(checks).not.toHaveProperty('hub-version');
    expect(exitCode).toBe(4);
  });

  it('looks at a PostgreSQL database without changing it', { timeout: 60_000 }, async () => {
    const server = await startPostgres();
    const url = await server.fresh();
    expect((await doctor('--store', url)).checks['store']).toMatchObject({
      state: 'ok',
      saw: expect.stringContaining('none yet'),
    });
    expect(await inspectPostgresStore({ url })).toBe(0);
    await (await openPostgresStore({ url })).close();
    expect((await doctor('--store', url)).checks['store']?.saw).toMatch(/schema version [1-9]/);
    const keyFile = join(folder, 'domain.key');
    const hub = await startHub({ dataDir: folder, port: 0, store: url });
    await hub.close();
    expect((await doctor('--store', url)).checks['store']).toMatchObject({ state: 'ok' });
    writeFileSync(keyFile, Buffer.alloc(32, 1).toString('base64url'));
    expect((await doctor('--store', url)).checks['store']).toMatchObject({
      state: 'fail',
      saw: expect.stringContaining('is not the key that the database was written under'),
    });
    await server.stop();
    const away = (await doctor('--store', url)).checks['store'];
    expect(away).toMatchObject({ state: 'fail' });
    expect(away?.saw).not.toContain(url);
  });

  it.each(['20.20.2', '22.13.1'])('refuses Node %s', (version) => {
    expect(() => lookAtNode(version)).toThrow('too old');
  });

  it('tells a port that is taken from one that is free', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = z.object({ port: z.int() }).parse(server.address());
    expect(await lookAtPort(port)).toMatchObject({ saw: `port ${port} is taken` });
    server.close();
    await once(server, 'close');
    expect(await lookAtPort(port)).toBe(`port ${port} is free`);
  });

  it('warns of a program that is not there', () => {
    expect(lookForTool('no-such-program', '--version', 'nothing')).toMatchObject({
      saw: 'not found',
    });
    expect(lookForTool(process.execPath, '--version', 'nothing')).toBe(process.version);
  });

  it('warns of a clock that is far off, and sees what is no hub', async () => {
    const server = createServer((_, response) => {
      response.setHeader('Date', new Date(Date.now() + 60_000).toUTCString());
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = z.object({ port: z.int() }).parse(server.address());
    const url = `http://127.0.0.1:${port}`;
    expect(await lookAtClock(url)).toMatchObject({
      saw: expect.stringMatching(/^(59|60) s behind/),
    });
    await expect(lookAtVersion(url, 'key')).rejects.toThrow('does not describe its API');
    server.close();
  });
});
