import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { endingOf } from './exit.ts';

/** A file of Linux that takes nothing. */
const full = '/dev/full';

describe('how a command ends', () => {
  it.runIf(existsSync(full))('says what to do where the disk is full', () => {
    let thrown: unknown;
    try {
      writeFileSync(full, 'x');
    } catch (error) {
      thrown = error;
    }
    expect(endingOf(thrown)).toEqual({
      exitCode: 1,
      code: 'unavailable',
      message: 'the disk is full; make room and run it again',
    });
  });

  it('calls unexpected what nobody knows', () => {
    expect(endingOf(new Error('odd'))).toMatchObject({ exitCode: 1, message: 'unexpected: odd' });
    expect(endingOf('odd')).toMatchObject({ exitCode: 1, message: 'unexpected: odd' });
  });
});
