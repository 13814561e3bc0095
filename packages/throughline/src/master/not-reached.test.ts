import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../test/free-port.ts';
import { stuckTasks, Graph } from '../graph/index.ts';
import type { CaseView } from '../model/case-view.ts';
import type { WorkflowInput } from '../model/workflow.ts';
import { alice, done, offered, World, type Behaviour } from './conformance.ts';
import type { RunEvent } from './events.ts';
import type { Master } from './master.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const works: Behaviour = async ({ context, output }) => {
  await output('found.txt', 'x');
  return done(context, ['found.txt']);
};

const workflow = (more: Partial<WorkflowInput['subtasks'][number]> = {}): WorkflowInput => ({
  name: 'Case',
  subtasks: [
    {
      id: 'look',
      name: 'Look it up',
      agent: 'away',
      todo: [{ id: 'one', description: 'Look' }],
      evaluation: 'relaxed',
      timeoutSeconds: 30,
      ...more,
    },
  ],
});

const master = (): Master => world.master({ retryMs: 20 });

const stuckIn = ({ dialogs, tasks, participants, relationships }: CaseView) =>
  stuckTasks(
    new Graph({
      objects: [
        ...participants.map((value) => ({ kind: 'participant' as const, value })),
        ...dialogs.map((value) => ({ kind: 'dialog' as const, value })),
        ...tasks.map((value) => ({ kind: 'task' as const, value })),
      ],
      relationships,
    }),
  );

describe('an agent that is down', () => {
  it.each(['hub', undefined] as const)(
    'shows in the case and to whoever watches, and is waited for (behind: %s)',
    async (behind) => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/`;
      world.agents.push({ id: 'away', name: 'away', url, ...(behind && { behind }) });
      const events: RunEvent[] = [];
      const desk = master();
      const taskId = await world.request('Is it right?');
      const request = { taskId, query: 'Is it right?', workflow: workflow(), offered };
      const run = desk.start(request, { onEvent: (event) => events.push(event) });
      await vi.waitFor(() =>
        expect(events).toContainEqual(
          expect.objectContaining({ kind: 'agent-not-reached', subtask: 'look', agent: 'away' }),
        ),
      );
      expect(run.progress.subtasks[0]?.notReached).toMatch(/./);
      const [runId = ''] = await desk.openRuns();
      const [attempt] = (await desk.status(runId)).subtasks[0]?.attempts ?? [];
      expect(attempt?.notReached?.reason).toMatch(/./);
      const view = await world.hub.caseView(alice, runId);
      const [stuck] = stuckIn(view).filter(({ task }) => task === attempt?.task);
      expect(stuck?.why).toBe('not-reached');
      const whose = view.participants.find(({ id }) => id === stuck?.whose[0]);
      // What an agent of the hub is called, it says itself: this one never spoke.
      expect(whose).toMatchObject({ kind: 'agent', ...(behind === undefined && { name: 'away' }) });
      if (behind === undefined) return;
      await world.aciAgent('away', works, port);
      const report = await run.report;
      expect(report).toMatchObject({ status: 'completed' });
      expect(report.subtasks[0]?.attempts).toHaveLength(1);
      const after = await world.hub.caseView(alice, report.activity);
      expect(stuckIn(after).filter(({ task }) => task === attempt?.task)).toEqual([]);
      expect(after.conflicts).toEqual([]);
      expect(events.filter(({ kind }) => kind === 'agent-not-reached')).toHaveLength(1);
    },
  );

  it('until the deadline is replaced, and its Task is over in the graph', async () => {
    world.agents.push({ id: 'away', name: 'away', url: 'http://127.0.0.1:9/', behind: 'hub' });
    await world.aciAgent('deputy', works);
    const taskId = await world.request('Is it right?');
    const report = await master().run({
      taskId,
      query: 'Is it right?',
      workflow: workflow({ fallback: ['deputy'], timeoutSeconds: 4 }),
      offered,
    });
    expect(report.status).toBe('completed');
    const [first, second] = report.subtasks[0]?.attempts ?? [];
    expect([first?.agent, first?.outcome, second?.agent]).toEqual(['away', 'failed', 'deputy']);
    expect(first?.reason).toMatch(/^It was not reached in time: http:\/\/127\.0\.0\.1:9\//);
    const view = await world.hub.caseView(alice, report.activity);
    expect(view.tasks.find(({ id }) => id === first?.task)?.state).toBe('timed-out');
    expect(view.relationships).toContainEqual(
      expect.objectContaining({ type: 'replaces', from: second?.task, to: first?.task }),
    );
    expect(view.conflicts).toEqual([]);
    expect(stuckIn(view).filter(({ task }) => task === first?.task)).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1:9/', true],
    ['http://127.0.0.1:9/?code=s3cret', false],
  ])(
    'has its address kept for whoever cancels, unless that may hold a secret: %s',
    async (url, isKept) => {
      world.agents.push({ id: 'away', name: 'away', url });
      const desk = master();
      const request = { query: 'Is it right?', workflow: workflow({ timeoutSeconds: 2 }), offered };
      const report = await desk.run({ ...request, taskId: await world.request('Is it right?') });
      expect(report.status).toBe('failed');
      const { state } = (await world.hub.master(world.desk).loadRun(report.runId)) ?? {};
      expect(JSON.stringify(state).includes('"address":{"url":"http://127.0.0.1:9/"')).toBe(isKept);
      expect(JSON.stringify([state, report])).not.toContain('s3cret');
    },
  );
});
