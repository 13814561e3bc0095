import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { lastWords, needRoom } from './full-disk.ts';

const whatToDo = /make room and run it again, or name another place: TMPDIR=FOLDER$/;

describe('a disk that is full', () => {
  it('is refused before anything begins, with where, how much and what to do', () => {
    expect(() => needRoom('/some/where', 2 ** 20)).toThrow('The disk of /some/where is full: 1 MB');
    expect(() => needRoom('/some/where', 0)).toThrow(whatToDo);
    expect(() => needRoom(`${tmpdir()}/not/there/yet`, 2 ** 30)).not.toThrow();
  });

  it('is looked at where the folder is still to be made', () => {
    expect(() => needRoom(`${tmpdir()}/not/there/yet`)).not.toThrow();
  });

  it.each([
    Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
    new Error('The hub ended by itself (1)\nThroughlineError: the disk is full; make room\n  at x'),
    Object.assign(new Error('cannot commit'), { code: 'SQLITE_FULL' }),
  ])('is told in one line with what to do, wherever it showed (%s)', (error) => {
    expect(lastWords(error)).toMatch(whatToDo);
    expect(lastWords(error)).not.toContain('\n');
  });

  it('is not told of an error that is another one', () => {
    expect(lastWords(new Error('no case x'))).toBe('no case x');
    expect(lastWords('left')).toBe('left');
  });

  it('ends a process with 1 and no stack, where nobody caught it', () => {
    const { href } = new URL('full-disk.ts', import.meta.url);
    const script = (error: string) =>
      `import { endOnUncaught } from '${href}'; endOnUncaught(); Promise.reject(${error}); setTimeout(() => {}, 9_000);`;
    const run = (error: string) =>
      spawnSync(process.execPath, ['--input-type=module', '-e', script(error)], {
        encoding: 'utf8',
      });
    const full = run("new Error('ENOSPC: no space left on device, write')");
    expect([full.status, full.stderr.trim()]).toEqual([1, expect.stringMatching(whatToDo)]);
    expect(full.stderr).not.toContain('    at ');
    const other = run("new Error('something else')");
    expect([other.status, other.stderr]).toEqual([1, expect.stringContaining('    at ')]);
  });
});
