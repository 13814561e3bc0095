import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorCodes, ThroughlineError } from '../errors.ts';
import { problemResponse, problems } from './problem.ts';

const bodyOf = async (thrown: unknown): Promise<object> =>
  z.looseObject({}).parse(await problemResponse(thrown).json());

type Waiting = 'unavailable' | 'quota' | 'unauthenticated';

const header = (code: Waiting, name: string) =>
  problemResponse(new ThroughlineError(code, '')).headers.get(name);

describe('an error as problem details', () => {
  it.each(errorCodes)('%s has a status, a title and its code', async (code) => {
    const error = new ThroughlineError(code, 'what, where, what to do');
    const response = problemResponse(error);
    expect(response.status).toBe(problems[code][0]);
    expect(response.headers.get('Content-Type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ code, status: problems[code][0] });
  });

  it('keeps what went wrong inside to the log', async () => {
    const secret = 'tlk_secret at /home/somebody';
    for (const thrown of [
      new TypeError(secret),
      secret,
      new ThroughlineError('damaged', secret, { details: { file: secret } }),
      new ThroughlineError('internal', secret, { cause: new Error(secret) }),
    ]) {
      const text = JSON.stringify(await bodyOf(thrown));
      expect(text).not.toContain('secret');
      expect(text).toContain('X-Request-Id');
    }
  });

  it('never holds a cause or a stack', async () => {
    const error = new ThroughlineError('conflict', 'no', { cause: new Error('the cause') });
    expect(Object.keys(await bodyOf(error))).toEqual(['type', 'title', 'status', 'detail', 'code']);
  });

  it('says when to come again, and how to authenticate', () => {
    expect(header('unavailable', 'Retry-After')).toBe('1');
    expect(header('quota', 'Retry-After')).toBeNull();
    const details = { retryAfterSeconds: 42 };
    const full = problemResponse(new ThroughlineError('quota', 'too many', { details }));
    expect(full.status).toBe(429);
    expect(full.headers.get('Retry-After')).toBe('42');
    expect(header('unauthenticated', 'WWW-Authenticate')).toBe('Bearer');
  });
});
