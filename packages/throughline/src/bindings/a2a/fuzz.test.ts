import { Client, credentials, Metadata } from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { echo, post, startAgent, wireMessage } from './conformance.ts';
import { restRoutes } from './rest-routes.ts';

// Hundreds of requests take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let agent: Awaited<ReturnType<typeof startAgent>>;
let grpc: Client;
beforeAll(async () => {
  agent = await startAgent(echo, { grpc: {}, bodyLimit: 100_000 });
  grpc = new Client(agent.served.grpcAddress ?? '', credentials.createInsecure());
});
afterAll(async () => {
  grpc.close();
  await agent.served.close(100);
});

const methods = [
  'SendMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
  'message/send',
  'tasks/get',
  'tasks/cancel',
  'tasks/pushNotificationConfig/set',
];

/** A message as 0.3 has it over HTTP+JSON: what is odd about it is odd there, too. */
const older = (given: unknown): unknown => {
  const message: unknown = Object(Object(given).message);
  const { parts, ...rest } = Object(message);
  return Object(given).message === undefined
    ? given
    : { ...Object(given), message: { ...rest, content: parts } };
};

const legacyCalls = [
  'SendMessage',
  'GetTask',
  'CancelTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfig',
  'DeleteTaskPushNotificationConfig',
  'GetAgentCard',
];

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom('../x', '\u0000', '\ud800', 'x'.repeat(3_000), 1e308, -0, '__proto__', [], {}),
);

/** A request that is right but for one thing, or nothing like one. */
const params = fc.oneof(
  odd,
  fc.record(
    {
      message: fc
        .record({
          field: fc.constantFrom(
            'messageId',
            'role',
            'parts',
            'contextId',
            'taskId',
            'metadata',
            'referenceTaskIds',
            'extensions',
            'kind',
          ),
          value: odd,
        })
        .map(({ field, value }) => ({ ...wireMessage('x'), [field]: value })),
      configuration: odd,
      metadata: odd,
      tenant: odd,
      id: odd,
      taskId: odd,
      pageSize: odd,
      pageToken: odd,
      historyLength: odd,
      status: odd,
      statusTimestampAfter: odd,
      url: odd,
      authentication: odd,
    },
    { requiredKeys: [] },
  ),
);

const grpcCall = (
  version: string,
  path: string,
  bytes: Uint8Array,
): Promise<{ code: number; details: string }> => {
  const metadata = Metadata.fromHttp2Headers({
    authorization: agent.keys.alice,
    'a2a-version': version,
  });
  return new Promise((resolve) => {
    grpc.makeUnaryRequest(
      path,
      (value: Uint8Array) => Buffer.from(value),
      (value: Buffer) => value,
      bytes,
      metadata,
      (error) => resolve(error ?? { code: 0, details: '' }),
    );
  });
};

/** A message of which nothing is there but its id and its context's, in the bytes of both versions. */
const messageIn = (contextId: readonly number[]): number[] => {
  const fields = [0x0a, 1, 0x6d, 0x12, contextId.length, ...contextId];
  return [0x0a, fields.length, ...fields];
};

const runs = { numRuns: 300, seed: 20 };
const inside = /Cannot read|is not a function|undefined \(|at .*\.ts:|node_modules/;

describe('bodies that nobody meant', () => {
  it('over JSON-RPC get an answer by name, never one of the inside', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...methods), params, async (method, given) => {
        const version = method.includes('/') ? '0.3' : '1.0';
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: given });
        const answer = await post(agent.url, agent.keys.alice, body, { 'a2a-version': version });
        const { error } = answer.body;
        expect([error?.code, error?.message]).not.toEqual([-32_603, expect.anything()]);
        expect(error?.message ?? '').not.toMatch(inside);
      }),
      runs,
    );
  });

  it.each(['1.0', '0.3'])('over HTTP+JSON of %s get a status below 500', async (version) => {
    const base = version === '0.3' ? `${agent.url}v1` : agent.url.slice(0, -1);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...restRoutes.filter(({ rpc }) => !rpc.includes('Stream'))),
        fc.record({ task: fc.string({ maxLength: 20 }), config: fc.string({ maxLength: 20 }) }),
        params,
        async ({ method, path, verb }, ids, given) => {
          const filled = path
            .replace('{task}', encodeURIComponent(ids.task))
            .replace('{config}', encodeURIComponent(ids.config));
          const url = `${base}${filled}${verb === undefined ? '' : `:${verb}`}`;
          const body = version === '0.3' ? older(given) : given;
          const response = await fetch(url, {
            method,
            headers: {
              authorization: agent.keys.alice,
              'a2a-version': version,
              'content-type': 'application/json',
            },
            ...(method === 'POST' ? { body: JSON.stringify(body) ?? '' } : {}),
          });
          const text = await response.text();
          expect([response.status, response.status < 500, text]).toEqual([
            response.status,
            true,
            text,
          ]);
          expect(text).not.toMatch(inside);
        },
      ),
      runs,
    );
  });

  it.each([
    ['1.0', 'lf.a2a.v1.A2AService', methods.filter((name) => !name.includes('/'))],
    ['0.3', 'a2a.v1.A2AService', legacyCalls],
  ])('over gRPC of %s get a code of their own', async (version, service, calls) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...calls),
        fc.uint8Array({ maxLength: 200 }),
        async (method, bytes) => {
          const { details } = await grpcCall(version, `/${service}/${method}`, bytes);
          expect(details).not.toMatch(/Cannot read|\.ts:|node_modules/);
        },
      ),
      runs,
    );
  });

  it.each([
    ['1.0', 'lf.a2a.v1.A2AService'],
    ['0.3', 'a2a.v1.A2AService'],
  ])(
    'over gRPC of %s are not read as another id where one is no UTF-8',
    async (version, service) => {
      const codes: unknown[] = [];
      for (const id of [
        [0x61, 0xff],
        [0x61, 0xc3, 0xa9],
      ]) {
        const bytes = Uint8Array.from(messageIn(id));
        codes.push((await grpcCall(version, `/${service}/SendMessage`, bytes)).code);
      }
      // The second is read, and lacks what a message needs.
      expect(codes).toEqual([13, 3]);
    },
  );

  it('leave the memory as it was', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: wireMessage('x'.repeat(200_000)) },
    });
    const burst = async (): Promise<void> => {
      await Promise.all(Array.from({ length: 50 }, () => post(agent.url, agent.keys.alice, body)));
    };
    await burst();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 10; i++) await burst();
    // 500 bodies of 200 kB were 100 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64_000_000);
  });
});
