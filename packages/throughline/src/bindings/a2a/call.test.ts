import { expect, it } from 'vitest';
import { authenticated } from './call.ts';

it('a credential longer than any is nobody’s, and no hub is asked about it', async () => {
  const asked: (string | undefined)[] = [];
  const ports = {
    authenticate: (credential: string | undefined) => {
      asked.push(credential);
      return Promise.resolve({ tenant: 't', id: 'priya', role: 'caller' } as const);
    },
  };
  const long = `Bearer ${'x'.repeat(16_000)}`;
  await expect(authenticated(ports, long)).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(asked).toEqual([]);
  const credential = `Bearer ${'x'.repeat(15_000)}`;
  expect(await authenticated(ports, credential)).toMatchObject({ credential });
  expect(asked).toEqual([credential]);
});
