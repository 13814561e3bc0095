import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countTokens } from '../handover/count-tokens.ts';
import { alice, canary, cashBackAgents, offered, workflow, World } from './conformance.ts';
import type { RunEvent } from './events.ts';
import type { Master, MasterOptions } from './master.ts';
import type { RunReport } from '../model/run.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const master = (options: Partial<MasterOptions> = {}): Master => world.master(options);

const statuses = (report: RunReport): Record<string, string> =>
  Object.fromEntries(report.subtasks.map(({ id, status }) => [id, status]));

describe('a round with an agent that takes AgentContexts and one that never heard of them', () => {
  it('ends with the answer, judged, in the TaskContext and in the graph', async () => {
    await cashBackAgents(world);
    const taskId = await world.request('Is my cash back right?');
    const events: RunEvent[] = [];
    const report = await master().run(
      { taskId, query: 'Is my cash back right?', workflow, offered },
      { onEvent: (event) => events.push(event) },
    );
    expect(statuses(report)).toEqual({ find: 'completed', check: 'completed' });
    expect(report.taskContext).toMatchObject({
      UserQuery: 'Is my cash back right?',
      OverallStatus: 'completed',
      GoalStatus: [
        { Goal: 'Find the rate', Status: 'completed' },
        { Goal: 'Check the payment', Status: 'completed' },
      ],
    });
    expect(report.subtasks[1]).toMatchObject({
      keyInformation: [{ itemID: 'sum', outputabstract: '1 EUR is missing\n\n{"missing":1}' }],
      verdict: { ok: true, relaxed: ['right'] },
    });
    expect(
      events.map((event) => `${event.kind} ${'subtask' in event ? event.subtask : ''}`.trim()),
    ).toEqual([
      'run-began',
      'subtask-started find',
      'handover-counted find',
      'item-state find',
      'attempt-ended find',
      'subtask-finished find',
      'subtask-started check',
      'handover-counted check',
      'attempt-ended check',
      'subtask-finished check',
    ]);
    const view = await world.hub.caseView(alice, report.activity);
    expect(view.conflicts).toEqual([]);
    const edges = view.relationships.map(({ type, role }) => (role ? `${type} ${role}` : type));
    expect(edges.toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => 'delegated-from'),
      'input-to',
      'input-to',
      'input-to source',
      // The rate, what is missing, and the returned AgentContext.
      ...Array.from({ length: 3 }, () => 'output-of'),
    ]);
  });

  it('hands each agent its own items and nothing else', async () => {
    await cashBackAgents(world);
    const taskId = await world.request('Is my cash back right?');
    const report = await master().run({ taskId, query: 'Is it right?', workflow, offered });
    const reached = world.received.filter(({ agent }) => agent === 'reader' || agent === 'checker');
    expect(reached.length).toBeGreaterThan(2);
    expect(JSON.stringify(reached)).not.toContain(canary);
    const plain = world.received.find(({ agent }) => agent === 'checker')?.text ?? '';
    expect(plain).toContain('100 EUR');
    expect(plain).toContain('2 %');
    for (const secret of ['reader', 'find', 'Cash back is', 'tsk_', 'dlg_', 'act_', 'desk']) {
      expect(plain).not.toContain(secret);
    }
    expect(report.subtasks.map(({ withheld }) => withheld)).toEqual([
      ['transactions', 'diary'],
      ['terms', 'diary'],
    ]);
  });

  it('counts what went out and what a full history would have been, on texts that are kept', async () => {
    await cashBackAgents(world);
    const taskId = await world.request('Is my cash back right?');
    const report = await master().run({ taskId, query: 'Is it right?', workflow, offered });
    const view = await world.hub.caseView(alice, report.activity);
    expect(view.handovers).toHaveLength(2);
    for (const { task, sent, fullHistory, returned } of view.handovers) {
      const texts = await world.hub.handoverTexts(world.desk, report.activity, task);
      expect(countTokens(texts.sent)).toBe(sent);
      expect(countTokens(texts.fullHistory)).toBe(fullHistory);
      expect(countTokens(texts.returned ?? '')).toBe(returned);
      expect(texts.sent).not.toContain(canary);
      expect(texts.fullHistory).toContain(canary);
    }
    expect(report.tokens.handedOver).toBeLessThan(report.tokens.fullHistory);
  });

  it('keeps no right to read in the texts that it keeps', async () => {
    await cashBackAgents(world);
    const taskId = await world.request('Is my cash back right?');
    const report = await master().run({ taskId, query: 'Is it right?', workflow, offered });
    const [first] = report.subtasks;
    const task = first?.attempts[0]?.task ?? '';
    const { sent } = await world.hub.handoverTexts(world.desk, report.activity, task);
    const sentToken = /eyJ[\w-]+\.[\w-]+\.[\w-]+/;
    const [kept] = sentToken.exec(sent) ?? [];
    const reader = world.received.find(({ agent }) => agent === 'reader')?.text ?? '';
    const [real] = sentToken.exec(reader) ?? [];
    expect(kept).toHaveLength(real?.length ?? 0);
    const agent = world.hub.agent({ tenant: 't', id: 'reader', role: 'agent' });
    const uri = /http:\/\/hub\.test\/content\/res_\w+/.exec(reader)?.[0] ?? '';
    await expect(agent.getContent(uri, real ?? '')).resolves.toMatchObject({});
    await expect(agent.getContent(uri, kept ?? '')).rejects.toThrow();
  });

  it('asked again for the same request, does nothing again', async () => {
    await cashBackAgents(world);
    const taskId = await world.request('Is my cash back right?');
    const first = await master().run({ taskId, query: 'Is it right?', workflow, offered });
    const before = world.received.length;
    const again = await master().run({ taskId, query: 'Is it right?', workflow, offered });
    expect(again).toEqual(first);
    expect(world.received).toHaveLength(before);
    expect(await master().openRuns()).toEqual([]);
  });
});
