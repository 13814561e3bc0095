import { describe, expect, it } from 'vitest';
import { wireMessage } from './conformance.ts';
import { checkRequest } from './grpc-call.ts';

const holding = (n: number) => ({ message: wireMessage('x', { parts: [{ data: { n } }] }) });

describe('a request over gRPC', () => {
  it.each([Infinity, -Infinity, NaN])('is refused for the number %s, which no JSON holds', (n) => {
    expect(() => checkRequest('SendMessage', holding(n))).toThrow(String(n));
  });

  it('is taken with any number that JSON holds', () => {
    expect(() => checkRequest('SendMessage', holding(-1.5e300))).not.toThrow();
  });
});
