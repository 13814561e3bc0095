import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Decision, type Dispatch, decide } from './dispatch.ts';

describe('npm run example -- NAME', () => {
  let folder = '';
  const ask = (...args: string[]): Decision => {
    const dispatch: Dispatch = {
      script: 'example',
      what: 'example',
      folder: pathToFileURL(`${folder}/`),
      options: { transport: ['jsonrpc'] },
    };
    return decide(dispatch, args);
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'dispatch-'));
    for (const name of ['desk', 'atlas', 'empty']) mkdirSync(join(folder, name));
    for (const name of ['desk', 'atlas']) writeFileSync(join(folder, name, 'main.ts'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('runs the main.ts of the folder with the flags that follow', () => {
    expect(ask('desk', '--json', '--fault', 'x')).toEqual({
      kind: 'run',
      main: pathToFileURL(join(folder, 'desk/main.ts')),
      flags: ['--json', '--fault', 'x'],
    });
  });

  it.each([['nobody'], ['empty'], ['../desk'], ['--json'], []])(
    'refuses %s and lists what exists',
    (...args) => {
      expect(ask(...args)).toEqual({
        kind: 'refuse',
        message: expect.stringContaining('Names: atlas, desk.'),
      });
    },
  );

  it('lets a value through that is built', () => {
    expect(ask('desk', '--transport', 'jsonrpc').kind).toBe('run');
    expect(ask('desk', '--transport=jsonrpc').kind).toBe('run');
  });

  it.each([['--transport', 'grpc'], ['--transport=grpc'], ['--transport']])(
    'refuses %s %s and lists the values that are built',
    (...args) => {
      expect(ask('desk', ...args)).toEqual({
        kind: 'refuse',
        message: expect.stringContaining('--transport takes: jsonrpc.'),
      });
    },
  );
});
