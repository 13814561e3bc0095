import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentContextMediaType } from '../model/agent-context.ts';
import type { RunReport } from '../model/run.ts';
import type { WorkflowInput } from '../model/workflow.ts';
import { alice, done, offered, World, type Behaviour } from './conformance.ts';
import type { Master, MasterOptions, RunRequest } from './master.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const master = (options: Partial<MasterOptions> = {}): Master =>
  world.master({ stopMs: 500, parallel: 1, ...options });

const chain: WorkflowInput = {
  name: 'Chain',
  subtasks: ['one', 'two', 'three'].map((id, at, all) => ({
    id,
    name: id,
    agent: 'worker',
    dependsOn: all.slice(Math.max(0, at - 1), at),
    needs: ['terms'],
    todo: [{ id: 'do', description: 'Do it' }],
    evaluation: 'relaxed' as const,
  })),
};

const request = async (workflow = chain): Promise<RunRequest> => ({
  taskId: await world.request('Do it'),
  query: 'Do it',
  workflow,
  offered,
});

const statuses = ({ subtasks }: RunReport): string[] => subtasks.map(({ status }) => status);

/** An agent whose model used so many tokens, as it says beside what it returns. */
const using =
  (usage: unknown): Behaviour =>
  async ({ context, artifact, output }) => {
    await output(`${context.SubTaskID}.txt`, context.SubTaskID);
    artifact('agent-context', {
      kind: 'data',
      data: done(context, [`${context.SubTaskID}.txt`]),
      mediaType: agentContextMediaType,
      metadata: { usage },
    });
    return undefined;
  };

const thousand = [{ model: 'gpt', inputTokens: 1_000, outputTokens: 100 }];
const prices = { gpt: { input: 2, output: 8 }, 'worker/gpt': { input: 1, output: 10 } };

describe('what models used', () => {
  it('is counted per hand-over, agent and run, with money by the first price that fits', async () => {
    await world.aciAgent('worker', using(thousand));
    const report = await master({ prices }).run(await request());
    const money = (1_000 * 1 + 100 * 10) / 1e6;
    expect(report.usage).toMatchObject({ inputTokens: 3_000, outputTokens: 300 });
    expect(report.usage.money).toBeCloseTo(3 * money, 9);
    expect(report.usage.byAgent['worker']).toMatchObject({ inputTokens: 3_000 });
    expect(report.subtasks[0]?.attempts[0]?.usage).toEqual([{ ...thousand[0], money }]);
    const { handovers } = await world.hub.caseView(alice, report.activity);
    expect(handovers.map(({ usage }) => usage)).toEqual(
      Array.from({ length: 3 }, () => [{ ...thousand[0], money }]),
    );
  });

  it.each([
    ['has no known price', thousand, {}, { inputTokens: 3_000, outputTokens: 300 }],
    ['is nonsense', [{ model: 'gpt', inputTokens: -1 }], prices, { inputTokens: 0 }],
    ['claims its own money', [{ ...thousand[0], money: 9 }], {}, { inputTokens: 3_000 }],
  ])('and %s costs nothing that anybody knows of', async (_, usage, priced, expected) => {
    await world.aciAgent('worker', using(usage));
    const report = await master({ prices: priced }).run(await request());
    expect(report.status).toBe('completed');
    expect(report.usage).toMatchObject(expected);
    expect(report.usage.money).toBeUndefined();
  });
});

describe('a limit that is reached', () => {
  it.each([
    ['of tokens', { tokens: 3_000 }, /limit of tokens/],
    ['of money', { money: 0.003 }, /limit of money/],
  ])('%s ends the run as failed, with what was done kept', async (_, limits, reason) => {
    await world.aciAgent('worker', using(thousand));
    const desk = master({ prices, limits });
    const report = await desk.run(await request());
    expect(report).toMatchObject({
      done: true,
      status: 'failed',
      reason: expect.stringMatching(reason),
      taskContext: { OverallStatus: 'failed' },
    });
    expect(statuses(report)).toEqual(['completed', 'completed', 'skipped']);
    expect(report.subtasks[0]?.outputs).toHaveLength(1);
    expect(await desk.openRuns()).toEqual([]);
  });

  it('of time stops what is under way', async () => {
    await world.aciAgent('worker', () => new Promise(() => undefined));
    const report = await master({ limits: { seconds: 0.5 } }).run(await request());
    expect(report).toMatchObject({ done: true, status: 'failed' });
    expect(report.reason).toMatch(/limit of time/);
    expect(['failed', 'unresolved']).toContain(statuses(report)[0]);
    expect(statuses(report).slice(1)).toEqual(['skipped', 'skipped']);
  });

  it('asks where that is wished, and goes on when it may', async () => {
    await world.aciAgent('worker', using(thousand));
    const asking = master({ limits: { tokens: 1_500, onHit: 'ask' } });
    const given = await request();
    const paused = await asking.run(given);
    expect(paused).toMatchObject({ done: false, status: 'awaiting-input' });
    expect(paused.questions).toMatchObject([{ text: expect.stringContaining('limit of tokens') }]);
    await asking.answer(paused.runId, { id: 'a', text: 'Yes, go on' });
    const again = await asking.resume(paused.runId);
    const last = again.done
      ? again
      : await asking.run({
          ...given,
          messages: [
            { id: 'a', text: 'Go' },
            { id: 'b', text: 'yes' },
          ],
        });
    expect(last).toMatchObject({ done: true, status: 'completed' });

    const refused = await asking.run(await request(), { onQuestion: () => 'no' });
    expect(refused).toMatchObject({ done: true, status: 'failed' });
  });
});

describe('the interaction', () => {
  it.each([
    ['SynchronousContextInteraction', 1],
    ['AsynchronousContextInteraction', 3],
  ] as const)('%s works on %i at once, with the same results', async (interaction, expected) => {
    let busy = 0;
    let most = 0;
    await world.aciAgent('worker', async ({ context, output }) => {
      busy += 1;
      most = Math.max(most, busy);
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
      await output('x', context.SubTaskID);
      busy -= 1;
      return done(context, ['x']);
    });
    const independent = {
      ...chain,
      interaction,
      subtasks: chain.subtasks.map((each) => ({ ...each, dependsOn: [] })),
    };
    const report = await master({ parallel: 8 }).run(await request(independent));
    expect(most).toBe(expected);
    expect(statuses(report)).toEqual(['completed', 'completed', 'completed']);
  });
});
