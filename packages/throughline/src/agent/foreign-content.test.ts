import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { returnedBy, saidBy, World } from './conformance.ts';
import { contentAccessKey } from '../model/content.ts';
import { listed, OtherStores } from '../transports/conformance.ts';
import { createForeignContent, type ForeignOptions } from '../transports/index.ts';
import type { AgentHandler, MessageHandler } from './handler.ts';

const others = new OtherStores();
let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(async () => {
  others.close();
  await world.close();
});

const onMessage: MessageHandler = () => ({ text: 'hello' });
const handler: AgentHandler = async (context, io) => {
  const content = await io.fetch(context.ContextItems[0]?.ContextID ?? '');
  await io.itemDone('one', content.text());
};

/** Hands over a piece that lies at `uri`, said to be `text`. */
async function handed(uri: string, text: string, foreign?: ForeignOptions) {
  const means = foreign === undefined ? {} : { foreign: createForeignContent(foreign) };
  const { url } = await world.serve({ handler, onMessage, ...means });
  const { parts, metadata, context } = await world.handOver(url, text, (given) => ({
    ...given,
    ContextItems: given.ContextItems.map((item) => ({ ...item, ContextURI: uri })),
  }));
  const access = Object(metadata[contentAccessKey]);
  const id = context.ContextItems[0]?.ContextID ?? '';
  const items = { [id]: { ...access.items[id], token: 'store.own.token' } };
  const shown = { ...metadata, [contentAccessKey]: { ...access, items } };
  return { task: await world.send(url, parts, { metadata: shown }), hubToken: access.token };
}

describe('an agent that is handed foreign content', () => {
  it('reads it from a store that is listed, and shows that store no token of the hub', async () => {
    const seen: string[] = [];
    const port = await others.open((request, response) => {
      seen.push(JSON.stringify(request.headers));
      response.end('terms');
    });
    const { task, hubToken } = await handed(`http://store.test:${port}/x`, 'terms', listed);
    expect(returnedBy(task)?.KeyInformation).toEqual([{ itemID: 'one', outputabstract: 'terms' }]);
    expect(seen.join()).toContain('store.own.token');
    expect(seen.join()).not.toContain(hubToken);
  });

  it('takes nothing that is not what was handed over', async () => {
    const port = await others.open((_request, response) => response.end('other'));
    const { task } = await handed(`http://store.test:${port}/x`, 'terms', listed);
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(saidBy(task)).toContain('not what was handed over');
    const digest = createHash('sha256').update('other').digest('hex');
    expect(JSON.stringify(task)).not.toContain(digest);
  });

  it('asks nobody outside unless a store is listed', async () => {
    let asked = 0;
    const port = await others.open((_request, response) => {
      asked += 1;
      response.end('terms');
    });
    for (const uri of [`http://store.test:${port}/x`, `http://127.0.0.1:${port}/x`, 'file:///x']) {
      const { task } = await handed(uri, 'terms');
      expect(task.status.state).toBe('TASK_STATE_FAILED');
    }
    expect(asked).toBe(0);
  });
});
