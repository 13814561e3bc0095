import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import { wireMessage } from './conformance.ts';
import { checkRequest, serviceError } from './grpc-call.ts';
import { grpcPackages } from './grpc-packages.ts';

const holding = (n: unknown) => ({ message: wireMessage('x', { parts: [{ data: { n } }] }) });

describe('an error over gRPC', () => {
  it('has details also where A2A has no error of that kind', async () => {
    const packages = await grpcPackages();
    const { GRPC_STATUS_DETAILS_BIN, decodeStatus, decodeErrorInfo } = packages.errors;
    const quota = new ThroughlineError('quota', 'enough', { details: { retryAfterSeconds: 4 } });
    const { code, metadata } = serviceError(packages, quota);
    const [bytes] = metadata.get(GRPC_STATUS_DETAILS_BIN);
    const [detail] = decodeStatus(Buffer.from(bytes ?? '')).details;
    expect([code, decodeErrorInfo(Buffer.from(detail?.value ?? ''))]).toMatchObject([
      8,
      { reason: 'RESOURCE_EXHAUSTED', metadata: { code: 'quota', retryAfterSeconds: '4' } },
    ]);
  });
});

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
