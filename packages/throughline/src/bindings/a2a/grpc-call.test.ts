import { describe, expect, it } from 'vitest';
import { wireMessage } from './conformance.ts';
import { checkRequest } from './grpc-call.ts';

const holding = (n: unknown) => ({ message: wireMessage('x', { parts: [{ data: { n } }] }) });

describe('a request over gRPC', () => {
  it.each([Infinity, -Infinity, NaN])('is refused for the number %s, which no JSON holds', (n) => {
    expect(() => checkRequest('SendMessage', holding(n))).toThrow(String(n));
  });

  it.each([40, 100_000])('is refused for nesting %i levels deep', (levels) => {
    let nested: unknown = 1;
    for (let level = 0; level < levels; level++) nested = [nested];
    expect(() => checkRequest('SendMessage', holding(nested))).toThrow('more than 32 levels');
  });

  it('is taken with any number that JSON holds', () => {
    expect(() => checkRequest('SendMessage', holding(-1.5e300))).not.toThrow();
  });
});
