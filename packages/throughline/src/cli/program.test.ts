import { describe, expect, it } from 'vitest';
import { candidates } from './commands/completion.ts';
import { packageVersion } from './package-version.ts';
import { program, run } from './program.ts';

/** Runs a command line and gives what it wrote. */
async function tell(...words: string[]) {
  const written = { out: '', err: '' };
  const surroundings = {
    stdout: { write: (text: string) => (written.out += text) },
    stderr: { write: (text: string) => (written.err += text) },
    env: {},
  };
  const exitCode = await run(words, surroundings);
  return { ...written, exitCode };
}

const nowhere = ['--data', '/nonexistent'];

describe('the command line', () => {
  it.each([
    [],
    ['serve'],
    ['case'],
    ['case', 'list'],
    ['case', 'show'],
    ['explain'],
    ['key', 'create'],
    ['key', 'list'],
    ['key', 'revoke'],
    ['grant', 'create'],
    ['grant', 'list'],
    ['grant', 'revoke'],
    ['quota', 'show'],
    ['quota', 'set'],
    ['case', 'search'],
    ['case', 'close'],
    ['case', 'reopen'],
    ['case', 'label'],
    ['case', 'merge'],
    ['case', 'split'],
    ['case', 'correct'],
    ['case', 'undo'],
    ['case', 'erase'],
    ['page'],
    ['export'],
    ['import'],
    ['verify'],
    ['backup'],
    ['restore'],
    ['doctor'],
    ['completion'],
  ])('helps with examples: %s %s', async (...words) => {
    const { out, exitCode } = await tell(...words.filter((each) => each !== ''), '--help');
    expect(out).toContain('Examples:\n  $ throughline ');
    expect(exitCode).toBe(0);
  });

  it('says which version it is', async () => {
    expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
    expect(await tell('--version')).toEqual({ out: `${packageVersion()}\n`, err: '', exitCode: 0 });
  });

  it('states its exit codes', async () => {
    expect((await tell('--help')).out).toContain('3  the hub is out of reach');
  });

  it.each([
    [['nonsense'], 'unknown command'],
    [['case', 'list', '--nonsense'], 'unknown option'],
    [['case', 'show'], 'missing required argument'],
    [['case', 'show', 'x', '--tree', '--timeline'], 'cannot be used with'],
    [['key', 'create', 'x', '--role', 'king'], 'Allowed choices'],
    [['grant', 'create', 'x'], '--to'],
    [['case', 'list', '--limit', 'many'], '--limit'],
    [['serve', '--port', '70000'], '--port'],
    [['serve', '--port', '0', '--store', 'mysql://localhost/x'], 'there is postgres'],
    [['serve', '--host', '0.0.0.0', ...nowhere], 'plain HTTP'],
    [['case', 'list', '--hub', 'nonsense'], 'is no URL'],
    [['case', 'erase', 'x'], '--yes'],
    [['case', 'label', 'x', 'ticket'], 'name=value'],
    [['case', 'correct', 'x', 'tsk_1', 'flying'], 'nothing that can be said'],
    [['quota', 'set', '--contexts', 'many'], '--contexts'],
    [['serve', '--context-policy', 'maybe'], 'Allowed choices'],
    [['serve', '--context-ttl', 'long'], '--context-ttl'],
    [['serve', '--jwt-issuer', 'https://a.example'], '--jwt-audience'],
    [['grant', 'create', 'x', '--to', 'y', '--allow', 'fly'], '--allow'],
  ])('ends with 2 when it is used wrongly: %j', async (words, says) => {
    const { err, exitCode } = await tell(...words);
    expect(err).toContain(says);
    expect(exitCode).toBe(2);
  });

  it('ends with 3 and says what to do when no hub is known or answers', async () => {
    const unknown = await tell('case', 'list', ...nowhere);
    expect(unknown).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining('throughline serve'),
    });
  });

  it('ends with 4 when there is no key', async () => {
    const { exitCode, err } = await tell('case', 'list', '--hub', 'http://127.0.0.1:1', ...nowhere);
    expect(exitCode).toBe(4);
    expect(err).toContain('--key-file');
  });

  it('gives errors as JSON to programs', async () => {
    const { out, err } = await tell('case', 'list', '--json', ...nowhere);
    expect(out).toBe('');
    expect(JSON.parse(err)).toMatchObject({ version: 1, error: { code: 'unavailable' } });
  });
});

describe('completion', () => {
  const whole = program({ stdout: { write: String }, stderr: { write: String }, env: {} });

  it('offers commands, then options, then an option’s values', () => {
    expect(candidates(whole, ['ca'])).toEqual(['case']);
    expect(candidates(whole, ['case', 's'])).toEqual(['search', 'show', 'split']);
    expect(candidates(whole, ['case', 'show', 'x', '--t'])).toEqual(['--tree', '--timeline']);
    expect(candidates(whole, ['key', 'create', 'x', '--role', 'a'])).toEqual(['agent']);
    expect(candidates(whole, [''])).not.toContain('complete');
  });

  it.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    expect((await tell('completion', shell)).out).toContain('throughline complete --');
  });
});
