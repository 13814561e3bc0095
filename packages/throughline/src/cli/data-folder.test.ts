import { once } from 'node:events';
import { createServer } from 'node:http';
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DataFolder } from './data-folder.ts';
import { writePrivate } from './whole-file.ts';

let root: string;
let folder: DataFolder;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'throughline-'));
  folder = new DataFolder(join(root, 'data'));
  folder.create();
});
afterEach(() => rmSync(root, { recursive: true }));

const modeOf = (file: string): number => statSync(file).mode & 0o777;
const damaged = expect.objectContaining({ code: 'damaged' });
const invalid = expect.objectContaining({ code: 'invalid' });

describe('a data folder', () => {
  it('is for its owner alone, and so is what is in it', () => {
    folder.domainKey(folder.database);
    folder.writeLocalKey('tlk_x');
    folder.writeHubUrl('http://127.0.0.1:1');
    expect(modeOf(folder.path)).toBe(0o700);
    for (const name of ['domain.key', 'local.key', 'hub.json']) {
      expect(modeOf(join(folder.path, name))).toBe(0o600);
    }
  });

  it('makes its domain key once', () => {
    const key = folder.domainKey(folder.database);
    expect(key).toHaveLength(32);
    expect(folder.domainKey(folder.database)).toEqual(key);
    expect(new DataFolder(join(root, 'other')).path).not.toBe(folder.path);
  });

  it('takes a domain key from elsewhere', () => {
    const file = join(root, 'elsewhere.key');
    writePrivate(file, Buffer.alloc(32, 7).toString('base64url'));
    expect(folder.domainKey(folder.database, file)).toEqual(new Uint8Array(32).fill(7));
    expect(existsSync(join(folder.path, 'domain.key'))).toBe(false);
  });

  it('makes no second key for a database that has lost its own', () => {
    writeFileSync(folder.database, 'data');
    expect(() => folder.domainKey(folder.database)).toThrow(damaged);
    expect(existsSync(join(folder.path, 'domain.key'))).toBe(false);
  });

  it('refuses a domain key that is none, and one that others may read', () => {
    const file = join(folder.path, 'domain.key');
    writePrivate(file, 'short');
    expect(() => folder.domainKey(folder.database)).toThrow(damaged);
    writePrivate(file, Buffer.alloc(32).toString('base64url'));
    chmodSync(file, 0o640);
    expect(() => folder.domainKey(folder.database)).toThrow(invalid);
  });

  it('knows neither key nor hub before the first start', () => {
    expect(folder.localKey()).toBeUndefined();
    expect(folder.hubUrl()).toBeUndefined();
  });

  it('remembers where its hub is, and says when that file is damaged', () => {
    folder.writeHubUrl('http://127.0.0.1:1');
    expect(folder.hubUrl()).toBe('http://127.0.0.1:1');
    for (const text of [
      '',
      '{}',
      '{"version":2,"url":"http://x"}',
      '{"version":1,"url":"nonsense"}',
    ]) {
      writeFileSync(join(folder.path, 'hub.json'), text);
      expect(() => folder.hubUrl()).toThrow(damaged);
    }
  });

  it('replaces a file as a whole, with the right mode whatever it had', () => {
    writeFileSync(folder.localKeyFile, 'old', { mode: 0o644 });
    folder.writeLocalKey('tlk_new');
    expect(folder.localKey()).toBe('tlk_new');
    expect(modeOf(folder.localKeyFile)).toBe(0o600);
  });

  it('is claimed only when no other process serves it', async () => {
    const server = createServer((_request, response) => response.end('{"ok":true}')).listen(0);
    await once(server, 'listening');
    const url = `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
    const hubOf = (pid: number | undefined): void =>
      writeFileSync(join(folder.path, 'hub.json'), JSON.stringify({ version: 1, url, pid }));
    hubOf(process.ppid);
    await expect(folder.claim()).rejects.toMatchObject({ code: 'conflict' });
    hubOf(process.pid);
    await folder.claim();
    hubOf(undefined);
    await folder.claim();
    server.close();
    await once(server, 'close');
    hubOf(process.ppid);
    await folder.claim();
  });
});
