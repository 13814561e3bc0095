import { describe, expect, it } from 'vitest';
import { checkSource, isLoopback } from './guard.ts';

const own = new URL('https://hub.example.com');
const refused = (status: number) => expect.objectContaining({ name: 'Refusal', status });

describe('where a request may come from', () => {
  it.each(['localhost', 'localhost:4680', '127.0.0.1:1', '[::1]:80', 'hub.example.com'])(
    'a Host of %s passes',
    (host) => {
      expect(() => checkSource({ host, origin: undefined }, own)).not.toThrow();
    },
  );

  it.each(['evil.test', '127.0.0.1.evil.test', 'hub.example.com.evil.test', '', 'a b', undefined])(
    'a Host of %s is refused',
    (host) => {
      expect(() => checkSource({ host, origin: undefined }, own)).toThrow(refused(421));
    },
  );

  it.each(['https://hub.example.com', 'http://localhost:3000', 'http://127.0.0.1'])(
    'an Origin of %s passes',
    (origin) => {
      expect(() => checkSource({ host: 'localhost', origin }, own)).not.toThrow();
    },
  );

  it.each([
    'https://evil.test',
    'null',
    '',
    'http://hub.example.com',
    'https://hub.example.com.evil.test',
  ])('an Origin of “%s” is refused', (origin) => {
    expect(() => checkSource({ host: 'localhost', origin }, own)).toThrow(refused(403));
  });

  it('tells the addresses that only this machine reaches from all others', () => {
    expect(['127.0.0.1', '::1', 'localhost'].map(isLoopback)).toEqual([true, true, true]);
    expect(['0.0.0.0', '::', '192.168.1.4', 'hub.example.com'].map(isLoopback)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
