import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import { openLog, type LogLevel } from './log.ts';

function opened({ level = 'debug', plain = false }: { level?: LogLevel; plain?: boolean } = {}) {
  const lines: string[] = [];
  return { lines, log: openLog({ level, plain, write: (line) => lines.push(line) }) };
}

const priya = { tenant: 'local', id: 'priya@example.com', role: 'caller' } as const;
const answered = {
  requestId: '00000000-0000-4000-8000-000000000000',
  method: 'GET',
  route: '/cases/{id}',
  status: 200,
  ms: 12.345,
  bytes: 900,
};

describe('a log', () => {
  it('has one line of JSON for each request, without saying who asked', () => {
    const { lines, log } = opened();
    log.answered({ ...answered, principal: priya });
    log.answered({ ...answered, principal: priya });
    log.answered({ ...answered, principal: { ...priya, tenant: 'other' } });
    const told = lines.map((line): Record<string, unknown> => JSON.parse(line));
    expect(told[0]).toMatchObject({ level: 'info', msg: 'request', ...answered, ms: 12.3 });
    expect(told[0]?.['principal']).toMatch(/^[0-9a-f]{12}$/);
    expect(told[1]?.['principal']).toBe(told[0]?.['principal']);
    expect(told[2]?.['principal']).not.toBe(told[0]?.['principal']);
    expect(lines.join('')).not.toContain('priya');
    expect(
      lines.every((line) => line.endsWith('}\n') && line.indexOf('\n') === line.length - 1),
    ).toBe(true);
  });

  it('tells as much as its level says, and of answers above 499 always', () => {
    const { lines, log } = opened({ level: 'error' });
    log.answered(answered);
    log.note('swept', { cases: 1 });
    expect(lines).toEqual([]);
    log.answered({ ...answered, status: 500 });
    expect(lines).toHaveLength(1);
  });

  it('says what failed, and inside of what, without what looks like a credential', () => {
    const { lines, log } = opened();
    const key = `tlk_${'k'.repeat(43)}`;
    const cause = new Error(`connect postgres://hub:hunter2@db/hub with Bearer abc.def and ${key}`);
    const error = new ThroughlineError('internal', `no answer to ${key}`, { cause });
    log.failed({ requestId: 'r', method: 'GET', error });
    const text = lines.join('');
    expect(JSON.parse(text)).toMatchObject({
      level: 'error',
      error: { code: 'internal', cause: { name: 'Error' } },
    });
    for (const secret of ['tlk_', 'hunter2', 'abc.def']) expect(text).not.toContain(secret);
  });

  it('does not repeat what a parser quotes of its input', () => {
    const { lines, log } = opened();
    try {
      JSON.parse('Priya Sharma, 12 High Street');
    } catch (error) {
      log.failed({ method: 'GET', error });
    }
    expect(lines.join('')).toContain('SyntaxError');
    expect(lines.join('')).not.toContain('Priya');
  });

  it.each(['authorization', 'cookie', 'dpop', 'throughline-content-token', 'key', 'password'])(
    'never shows what comes under the name %s',
    (name) => {
      const { lines, log } = opened();
      log.note('strange', { [name]: 'hush' });
      expect(lines.join('')).not.toContain('hush');
    },
  );

  it.each([false, true])('has lines of a bounded length (plain: %s)', (plain) => {
    const { lines, log } = opened({ plain });
    log.note('x'.repeat(1_000_000));
    const nested = Array.from({ length: 50 }).reduce<Error>(
      (cause) => new Error('y'.repeat(100_000), { cause }),
      new Error('z'),
    );
    log.failed({ method: 'GET', error: nested });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.length).toBeLessThan(9_000);
  });

  it('is read by a person where it is plain', () => {
    const { lines, log } = opened({ plain: true });
    log.answered(answered);
    expect(lines.join('')).toMatch(
      /^\d\d:\d\d:\d\d info request requestId=0{8}\S+ method=GET route=\/cases\/\{id\} bytes=900 status=200 ms=12\.3\n$/,
    );
  });
});
