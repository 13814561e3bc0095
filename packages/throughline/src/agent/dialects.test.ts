import { SendMessageRequest } from '@a2a-js/sdk';
import type { Transport } from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport, LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { LegacyGrpcTransport } from '@a2a-js/sdk/compat/v0_3/client/grpc';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentAccessKey } from '../model/content.ts';
import { World } from './conformance.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

type Address = Pick<Awaited<ReturnType<World['serve']>>, 'url' | 'grpcAddress'>;

/** The SDK's own transports of A2A 0.3, which knows no media type of data. */
const transports: readonly (readonly [name: string, open: (at: Address) => Transport])[] = [
  ['JSON-RPC', ({ url }) => new LegacyJsonRpcTransport({ endpoint: url })],
  ['HTTP+JSON', ({ url }) => new LegacyRestTransport({ endpoint: url.slice(0, -1) })],
  ['gRPC', ({ grpcAddress: endpoint = '' }) => new LegacyGrpcTransport({ endpoint })],
];

describe.each(transports)('an agent that is asked in A2A 0.3 over %s', (_, open) => {
  it.each(['extensions', 'metadata'])(
    'knows an AgentContext by the message’s %s, and streams its items as they come',
    async (by) => {
      const at = await world.serve({
        grpc: {},
        onMessage: () => ({ text: 'taken for a plain message' }),
        handler: async (context, io) => {
          for (const { itemID } of context.todoItems) await io.itemDone(itemID, `did ${itemID}`);
          await io.output('summary', 'text/plain', 'all of it');
        },
      });
      const { parts, metadata } = await world.handOver(at.url, 'Hello');
      const said = by === 'metadata' ? { metadata } : { extensions: [contentAccessKey] };
      const message = { messageId: 'm', role: 'ROLE_USER', parts, ...said };
      const updates = open(at).sendMessageStream(SendMessageRequest.fromJSON({ message }), {
        serviceParameters: { authorization: `Bearer ${world.key}` },
      });
      const progress: unknown[] = [];
      const outputs: unknown[] = [];
      for await (const { payload } of updates) {
        if (payload?.$case === 'statusUpdate' && payload.value.metadata !== undefined) {
          progress.push(payload.value.metadata[contentAccessKey]);
        }
        if (payload?.$case === 'artifactUpdate') outputs.push(payload.value.artifact);
      }
      expect(progress).toEqual([
        {
          ItemStateUpdates: [{ itemID: 'one', state: 1 }],
          KeyInformation: [{ itemID: 'one', outputabstract: 'did one' }],
        },
      ]);
      expect(outputs).toMatchObject([
        { artifactId: 'summary' },
        {
          artifactId: 'agent-context',
          parts: [{ content: { value: { EvaluationResult: { Status: 'passed' } } } }],
        },
      ]);
    },
  );
});
