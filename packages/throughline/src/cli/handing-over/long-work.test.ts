import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeProofKey, type AgentHandler } from '../../agent/index.ts';
import type { RunReport } from '../../master/index.ts';
import { Handing, notes, reading } from './conformance.ts';

let world: Handing;
beforeEach(async () => {
  // Clocks alone: everything else takes the time that it takes.
  vi.useFakeTimers({ toFake: ['Date'] });
  world = await Handing.open();
});
afterEach(async () => {
  await world.close();
  vi.useRealTimers();
});

const hour = reading({ timeoutSeconds: 3_600 });
/** Reads its item, works for some minutes, and reads it again, so many times. */
const working = (
  minutes: number,
  times: number,
  between: () => Promise<void> | void = () => undefined,
) =>
  (async (context, io) => {
    const id = context.ContextItems[0]?.ContextID ?? '';
    const read = [(await io.fetch(id)).text()];
    for (let turn = 0; turn < times; turn++) {
      vi.setSystemTime(Date.now() + minutes * 60_000);
      await between();
      const both = await Promise.all([io.fetch(id), io.fetch(id)]);
      read.push(...both.map((content) => content.text()));
    }
    await io.itemDone('one', read.join(' '));
  }) satisfies AgentHandler;
const saidBy = ({ subtasks }: RunReport): string | undefined =>
  subtasks[0]?.keyInformation[0]?.outputabstract;
const run = (): Promise<RunReport> => world.run(hour, [notes('noted')]);

describe('an agent that works for longer than its token holds', () => {
  it.each([false, true])('reads on to the end (bound to a key: %s)', async (isBound) => {
    const key = isBound ? { proofKey: await makeProofKey() } : {};
    await world.serve(working(11, 5), key);
    expect(saidBy(await run())).toBe(Array.from({ length: 11 }, () => 'noted').join(' '));
    // Once a turn, or twice where both reads found out one after the other.
    expect(world.renewals).toBeLessThanOrEqual(10);
    expect(world.renewals).toBeGreaterThanOrEqual(5);
  });

  it('reads no further than the deadline', async () => {
    await world.serve(working(61, 1));
    const { status, subtasks } = await run();
    expect(status).not.toBe('completed');
    expect(JSON.stringify(subtasks)).not.toContain('noted noted');
    expect(world.faults).toMatchObject([{ code: 'gone' }]);
  });

  it('reads nothing any more once the Master took the right back', async () => {
    const desk = await world.clientOf('desk');
    const revoke = async (): Promise<void> => {
      const [open = ''] = await desk.master().openRuns();
      await desk.content.revokeTokens({ case: open });
    };
    await world.serve(working(11, 1, revoke));
    const { status } = await run();
    expect(status).toBe('failed');
    expect(world.faults).toMatchObject([{ code: 'not-found' }]);
  });
});

it('a short hand-over makes a token that nobody renews', async () => {
  await world.serve(working(11, 1));
  await world.run(reading({ timeoutSeconds: 60 }), [notes('noted')]);
  expect(world.faults).toMatchObject([{ code: 'gone' }]);
  expect(world.renewals).toBe(0);
});
