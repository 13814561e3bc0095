import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { reasonOf } from './agent-failure.ts';

describe('why an agent failed', () => {
  const refused = new ThroughlineError('unauthenticated', 'http://agent/ answered: no valid key');

  it.each([
    ['none is known', {}, /Give it a credential \(keyFile in a file of agents\)$/],
    ['it is behind another hub', { behind: 'hub' }, /leave out behind/],
    ['it has another', { credential: 'Bearer x' }, /Its credential .* does not count there$/],
  ] as const)('says what to do where it asks for a credential and %s', (_, agent, advice) => {
    expect(reasonOf(refused, agent)).toMatch(/^http:\/\/agent\/ answered: no valid key\. /);
    expect(reasonOf(refused, agent)).toMatch(advice);
    expect(reasonOf(refused, agent)).not.toContain('Bearer x');
  });

  it('is told as it is where that has nothing to do with a credential', () => {
    const away = new ThroughlineError('unavailable', 'not reached');
    expect(reasonOf(away, { behind: 'hub' })).toBe('not reached');
  });
});
