import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** An npm that notes its command and installs the lock, with a compiler that copies sources. */
const fakeNpm = `
const fs = require('node:fs');
const command = process.argv[2];
fs.appendFileSync('npm.log', command + '\\n');
console.log('npm talks on stdout');
console.error('npm http fetch GET 200 https://registry.example/x/-/x-1.0.0.tgz');
if (fs.existsSync('refuse-' + command)) { console.error('npm error no luck'); process.exit(1); }
fs.mkdirSync('node_modules/typescript/bin', { recursive: true });
fs.writeFileSync('node_modules/typescript/package.json', '{}');
fs.copyFileSync('fake-tsc.cjs', 'node_modules/typescript/bin/tsc');
fs.mkdirSync('node_modules/vite/bin', { recursive: true });
fs.writeFileSync('node_modules/vite/package.json', '{}');
fs.copyFileSync('fake-vite.cjs', 'node_modules/vite/bin/vite.js');
fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
`;
const fakeCompiler = `
const fs = require('node:fs');
console.log('tsc talks on stdout');
const text = fs.readFileSync('packages/throughline/src/index.ts', 'utf8');
if (text.includes('wrong')) process.exit(2);
fs.mkdirSync('packages/throughline/dist', { recursive: true });
fs.writeFileSync('packages/throughline/dist/index.js', text);
`;
const fakeBundler = `
const fs = require('node:fs');
console.log('vite talks on stdout');
const folder = process.argv[3];
fs.mkdirSync(folder + '/dist', { recursive: true });
fs.copyFileSync(folder + '/index.html', folder + '/dist/index.html');
fs.appendFileSync('vite.log', 'built ');
`;

describe('setting up a checkout', () => {
  let folder = '';
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const writeLock = (version: string): void => {
    const packages = {
      '': {},
      'packages/throughline': { version: '1.0.0' },
      'node_modules/throughline': { resolved: 'packages/throughline', link: true },
      'node_modules/x': { version },
      'node_modules/for-another-machine': { version, optional: true, os: ['none'] },
    };
    write('package-lock.json', JSON.stringify({ packages }));
  };
  const setUp = (): { status: number | null; stdout: string; stderr: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/setup.mjs'], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, npm_execpath: join(folder, 'fake-npm.cjs') },
    });
    return { status, stdout, stderr };
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'setup-'));
    for (const name of ['setup.mjs', 'build.mjs']) {
      const from = fileURLToPath(new URL(name, import.meta.url));
      cpSync(from, join(folder, 'scripts', name));
    }
    write('package.json', '{ "type": "module" }');
    write('fake-npm.cjs', fakeNpm);
    write('fake-tsc.cjs', fakeCompiler);
    write('fake-vite.cjs', fakeBundler);
    write('tsconfig.base.json', '{}');
    write('packages/throughline/tsconfig.build.json', '{}');
    write('packages/throughline/src/index.ts', 'export {};');
    write('spec/schemas/x.json', '{}');
    writeLock('1.0.0');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('installs and builds a fresh clone, telling so on stderr and nothing on stdout', () => {
    const { status, stdout, stderr } = setUp();
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toContain('Installing dependencies (first run)');
    expect(stderr).toContain('Building packages/throughline');
    expect(read('npm.log')).toBe('ci\n');
    expect(read('packages/throughline/dist/index.js')).toBe('export {};');
  });

  it('does and says nothing when all is ready', () => {
    setUp();
    expect(setUp()).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(read('npm.log')).toBe('ci\n');
  });

  it('updates without emptying node_modules when the lock has moved on', () => {
    setUp();
    writeLock('2.0.0');
    expect(setUp()).toMatchObject({ status: 0, stderr: expect.stringContaining('Updating') });
    expect(read('npm.log')).toBe('ci\ninstall\n');
  });

  it('builds again when a source changed, and drops what no source gives any more', () => {
    setUp();
    write('packages/throughline/src/index.ts', 'export const changed = 1;');
    write('packages/throughline/dist/gone.js', '');
    expect(setUp().status).toBe(0);
    expect(read('packages/throughline/dist/index.js')).toContain('changed');
    expect(existsSync(join(folder, 'packages/throughline/dist/gone.js'))).toBe(false);
    expect(read('npm.log')).toBe('ci\n');
  });

  it('carries the JSON Schemas into the package, again when one changed', () => {
    const schema = 'packages/throughline/dist/schemas/x.json';
    setUp();
    expect(read(schema)).toBe('{}');
    write('spec/schemas/x.json', '{ "type": "null" }');
    expect(setUp().status).toBe(0);
    expect(read(schema)).toContain('null');
  });

  it('builds the page into the package, again only when its sources changed', () => {
    const page = 'packages/throughline/dist/page/index.html';
    write('packages/dashboard/index.html', 'one');
    write('packages/dashboard/src/main.ts', '');
    expect(setUp()).toMatchObject({ status: 0, stdout: '' });
    expect(read(page)).toBe('one');
    write('packages/throughline/src/index.ts', 'export const changed = 1;');
    expect(setUp().stderr).not.toContain('the page');
    expect(read(page)).toBe('one');
    write('packages/dashboard/index.html', 'two');
    expect(setUp().stderr).toContain('Building the page');
    expect(read(page)).toBe('two');
    expect(setUp()).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(read('vite.log')).toBe('built built ');
  });

  it('resolves anew when the lock can’t be installed as it stands', () => {
    write('refuse-ci', '');
    expect(setUp().status).toBe(0);
    expect(read('npm.log')).toBe('ci\ninstall\n');
  });

  it('fails with what npm said when nothing could be installed', () => {
    write('refuse-ci', '');
    write('refuse-install', '');
    const { status, stdout, stderr } = setUp();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('npm error no luck');
    expect(stderr).not.toContain('registry.example');
  });

  it('fails when the sources do not compile, and tries again next time', () => {
    write('packages/throughline/src/index.ts', 'wrong');
    for (const attempt of [setUp(), setUp()]) {
      expect(attempt).toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringContaining('does not build'),
      });
    }
  });

  it('takes over from a set-up that died', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    write('.cache/setup.lock', String(pid));
    expect(setUp().status).toBe(0);
    expect(existsSync(join(folder, '.cache/setup.lock'))).toBe(false);
  });
});
