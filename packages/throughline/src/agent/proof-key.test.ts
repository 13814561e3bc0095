import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { contentAccessKey, proofKeyParam } from '../model/content.ts';
import { returnedBy, World } from './conformance.ts';
import type { AgentHandler, MessageHandler } from './handler.ts';
import { makeProofKey } from './proof-key.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const onMessage: MessageHandler = () => ({ text: 'hello' });
/** Reads its item twice, as a handler may. */
const handler: AgentHandler = async (context, io) => {
  const id = context.ContextItems[0]?.ContextID ?? '';
  const both = [await io.fetch(id), await io.fetch(id)].map((content) => content.text());
  await io.itemDone('one', both.join(' '));
};

const cardSchema = z.object({
  capabilities: z.object({
    extensions: z.array(
      z.object({ uri: z.string(), params: z.record(z.string(), z.unknown()).optional() }),
    ),
  }),
});

it('an agent with a key declares it, and reads what only that key opens, as often as it likes', async () => {
  const proofKey = await makeProofKey();
  const { url } = await world.serve({ handler, onMessage, proofKey });
  const card = await (await fetch(new URL('.well-known/agent-card.json', url))).json();
  const { extensions } = cardSchema.parse(card).capabilities;
  const declared = extensions.find(({ uri }) => uri === contentAccessKey)?.params;
  expect(declared).toEqual({ [proofKeyParam]: proofKey.thumbprint });
  const handed = await world.handOver(url, 'notes', undefined, proofKey.thumbprint);
  const task = await world.send(url, handed.parts, { metadata: handed.metadata });
  expect(returnedBy(task)?.KeyInformation).toEqual([
    { itemID: 'one', outputabstract: 'notes notes' },
  ]);
});

it.each([false, true])(
  'an agent without that key reads nothing (another key: %s)',
  async (other) => {
    const keys = other ? { proofKey: await makeProofKey() } : {};
    const { url } = await world.serve({ handler, onMessage, ...keys });
    const { thumbprint } = await makeProofKey();
    const { parts, metadata } = await world.handOver(url, 'notes', undefined, thumbprint);
    const task = await world.send(url, parts, { metadata });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('notes notes');
  },
);

it('reads again with a new proof when the hub was away in between', async () => {
  const proofKey = await makeProofKey();
  const ports = world.ports();
  let calls = 0;
  const shaky: typeof ports.getContent = async (uri, token, prove) => {
    const content = await ports.getContent(uri, token, prove);
    calls += 1;
    // It was read, and the answer got lost.
    if (calls === 1) throw new ThroughlineError('unavailable', 'the answer was lost');
    return content;
  };
  const { url } = await world.serve({
    handler,
    onMessage,
    proofKey,
    ports: world.ports({ getContent: shaky }),
  });
  const handed = await world.handOver(url, 'notes', undefined, proofKey.thumbprint);
  const task = await world.send(url, handed.parts, { metadata: handed.metadata });
  expect(returnedBy(task)?.KeyInformation).toHaveLength(1);
  expect(calls).toBe(3);
});
