import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentContextMediaType } from '../model/agent-context.ts';
import { contentAccessKey } from '../model/content.ts';
import type { RunReport } from '../model/run.ts';
import type { WorkflowInput } from '../model/workflow.ts';
import { alice, done, offered, World, type Behaviour } from './conformance.ts';
import type { MasterOptions } from './master.ts';
import { byModel } from './usage.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const pair: WorkflowInput = {
  name: 'Pair',
  subtasks: ['one', 'two'].map((id) => ({
    id,
    name: id,
    agent: id === 'one' ? 'reader' : 'writer',
    needs: ['terms'],
    todo: [{ id: 'do', description: 'Do it' }],
    evaluation: 'relaxed' as const,
  })),
};

/** Returns its context done, with such figures beside it. */
const claiming =
  (claims: Readonly<Record<string, unknown>>, isDone = true): Behaviour =>
  async ({ context, artifact, output }) => {
    if (isDone) await output('x', context.SubTaskID);
    artifact('agent-context', {
      kind: 'data',
      data: isDone ? done(context, ['x']) : context,
      mediaType: agentContextMediaType,
      metadata: { [contentAccessKey]: claims },
    });
    return undefined;
  };

async function run(options: Partial<MasterOptions> = {}): Promise<RunReport> {
  const master = world.master(options);
  const taskId = await world.request('Do it');
  const workflow = options.planner === undefined ? { workflow: pair } : {};
  return master.run({ taskId, query: 'Do it', offered, ...workflow });
}

const usage = [{ model: 'm', inputTokens: 40, outputTokens: 2 }];
const compression = { tokenizer: 'o200k_base', before: 400, after: 90, missed: 'by 3 tokens' };

describe('what an agent claims beside its AgentContext', () => {
  it('is kept with the hand-over, and summed by subtask, agent and run', async () => {
    await world.aciAgent('reader', claiming({ usage, compression }));
    await world.aciAgent('writer', claiming({ compression: { ...compression, before: 100 } }));
    const report = await run();
    expect(report.status).toBe('completed');
    expect(report.subtasks[0]?.attempts[0]).toMatchObject({ usage, compression });
    expect(report.subtasks.map(({ spent }) => spent.compressed)).toEqual([
      { before: 400, after: 90 },
      { before: 100, after: 90 },
    ]);
    expect(report.spentByAgent['reader']).toMatchObject({
      handovers: 1,
      compressed: { before: 400, after: 90 },
      inputTokens: 40,
      unpriced: 42,
    });
    expect(report.spent).toMatchObject({ handovers: 2, compressed: { before: 500, after: 180 } });
    const { handovers } = await world.hub.caseView(alice, report.activity);
    // Both are under way at once: either may have been handed over first.
    const kept = handovers.map((each) => each.compression);
    expect(kept).toHaveLength(2);
    expect(kept).toEqual(expect.arrayContaining([compression, { ...compression, before: 100 }]));
  });

  it.each([
    ['negative tokens', { ...compression, after: -1 }],
    ['tokens beyond all reason', { ...compression, before: 2 ** 52 }],
    ['a tokenizer without end', { ...compression, tokenizer: 'x'.repeat(300) }],
    ['words without end', { ...compression, missed: 'x'.repeat(10_000) }],
    ['no figures', 'well compressed'],
  ])('counts for nothing with %s, and spoils nothing else', async (_, nonsense) => {
    await world.aciAgent('reader', claiming({ usage, compression: nonsense }));
    await world.aciAgent('writer', claiming({}));
    const report = await run();
    expect(report.status).toBe('completed');
    expect(report.spent).toMatchObject({ handovers: 2, inputTokens: 40 });
    expect(report.spent).not.toHaveProperty('compressed');
    expect(report.subtasks[0]?.attempts[0]).not.toHaveProperty('compression');
  });

  it('counts where the attempt failed, too', async () => {
    await world.aciAgent('reader', claiming({ usage, compression }, false));
    await world.aciAgent('writer', claiming({}));
    const report = await run();
    expect(report.subtasks[0]).toMatchObject({
      status: 'failed',
      spent: { handovers: report.subtasks[0]?.attempts.length, unpriced: expect.any(Number) },
    });
    expect(report.subtasks[0]?.spent.returned).toBeGreaterThan(0);
    const { handovers } = await world.hub.caseView(alice, report.activity);
    const failed = handovers.filter(({ agent }) => agent === 'reader');
    expect(failed.map((each) => each.usage)).toEqual(failed.map(() => usage));
    expect(failed.every(({ returned = 0 }) => returned > 0)).toBe(true);
  });
});

describe('what models of the Master itself used', () => {
  it('stands in the case beside the hand-overs, summed by model', async () => {
    await world.aciAgent('reader', claiming({}));
    await world.aciAgent('writer', claiming({}));
    const used = { model: 'mock/planner', inputTokens: 1_000, outputTokens: 200 };
    const report = await run({
      planner: ({ spent }) => {
        spent(used);
        spent(used);
        return Promise.resolve(pair);
      },
      prices: { planner: { input: 1, output: 10 } },
    });
    const money = 2 * ((1_000 * 1 + 200 * 10) / 1e6);
    const { runs } = await world.hub.caseView(alice, report.activity);
    expect(runs).toEqual([
      {
        run: report.runId,
        usage: [{ model: 'mock/planner', inputTokens: 2_000, outputTokens: 400, money }],
      },
    ]);
    expect(report.spent).toMatchObject({ inputTokens: 2_000, money, unpriced: 0 });
  });

  it('is summed by model, what has a price apart from what has none', () => {
    const one = { model: 'a', inputTokens: 1, outputTokens: 1 };
    expect(byModel([one, { ...one, money: 2 }, { ...one, model: 'b' }, one])).toEqual([
      { model: 'a', inputTokens: 2, outputTokens: 2 },
      { ...one, money: 2 },
      { ...one, model: 'b' },
    ]);
  });
});
