import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, describe, it } from 'vitest';
import { returnedBy, saidBy, World } from './conformance.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const answer = (task: { id: string; contextId: string }) => ({
  taskId: task.id,
  contextId: task.contextId,
  messageId: randomUUID(),
});

describe('an agent that asks in the middle of its work', () => {
  it('waits for input, and is told on the same task', async () => {
    const { url } = await world.serve({
      onMessage: ({ text }) =>
        text === 'May' ? { text: 'It is 2 %.' } : { text: 'Of which month?', asks: true },
    });
    const asking = await world.send(url, [{ text: 'How much is it?' }]);
    expect(asking.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(saidBy(asking)).toBe('Of which month?');
    const done = await world.send(url, [{ text: 'May' }], answer(asking));
    expect([done.id, done.status.state, saidBy(done)]).toEqual([
      asking.id,
      'TASK_STATE_COMPLETED',
      'It is 2 %.',
    ]);
  });

  it('does its subtask anew with the answers, in another process too', async () => {
    let runs = 0;
    const serve = () =>
      world.serve({
        onMessage: () => ({ text: 'hello' }),
        handler: async (context, io) => {
          runs += 1;
          const month = await io.ask('Of which month?');
          const year = await io.ask('And which year?');
          const [item] = context.ContextItems;
          const notes = await io.fetch(item?.ContextID ?? '');
          await io.itemDone('one', `${month} ${year}: ${notes.text()}`);
        },
      });
    const first = await serve();
    const { parts, metadata } = await world.handOver(first.url, 'two per cent', (context) => ({
      ...context,
      todoItems: [{ itemID: 'one', description: 'Read' }],
      ItemStateUpdates: [{ itemID: 'one', state: 0 }],
    }));
    const asking = await world.send(first.url, parts, { metadata });
    expect(saidBy(asking)).toBe('Of which month?');
    const again = await world.send(first.url, [{ text: 'May' }], {
      ...answer(asking),
      metadata,
    });
    expect([again.status.state, saidBy(again)]).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'And which year?',
    ]);
    await first.stop();
    const second = await serve();
    const done = await world.send(second.url, [{ text: '2030' }], { ...answer(asking), metadata });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(returnedBy(done)?.KeyInformation).toMatchObject([
      { outputabstract: 'May 2030: two per cent' },
    ]);
    expect(runs).toBe(3);
  });
});
