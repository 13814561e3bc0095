import { TaskState } from '@a2a-js/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContextItem } from '../model/agent-context.ts';
import type { RunReport } from '../model/run.ts';
import type { WorkflowInput } from '../model/workflow.ts';
import { alice, done, offered, World, type Behaviour } from './conformance.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

type SubtaskInput = WorkflowInput['subtasks'][number];
const subtask = (id: string, more: Partial<SubtaskInput> = {}): SubtaskInput => ({
  id,
  name: `Do ${id}`,
  agent: id,
  needs: ['terms'],
  todo: [{ id: 'one', description: 'Look' }],
  evaluation: 'relaxed',
  attempts: 1,
  timeoutSeconds: 30,
  ...more,
});

async function run(subtasks: SubtaskInput[]): Promise<RunReport> {
  const master = world.master();
  const taskId = await world.request('Is it right?');
  const workflow = { name: 'Case', subtasks };
  return master.run({ taskId, query: 'Is it right?', workflow, offered });
}

const statuses = ({ subtasks }: RunReport): string[] => subtasks.map(({ status }) => status);

const found = 'The rate is two percent.';
const finds: Behaviour = async ({ context, output }) => {
  await output('rate', found);
  return done(context, ['rate']);
};
const find = subtask('find', { produces: [{ name: 'rate', description: 'The rate' }] });

describe('what an agent is handed', () => {
  it.each(['one of ours', 'a plain one'])(
    'is nothing of what came before when its plan names nothing (%s)',
    async (kind) => {
      await world.aciAgent('find', finds);
      if (kind === 'a plain one') await world.plainAgent('next', () => ({ text: 'Done' }));
      else await world.aciAgent('next', ({ context }) => done(context, []));
      const report = await run([find, subtask('next', { dependsOn: ['find'], needs: [] })]);
      expect(statuses(report)).toEqual(['completed', 'completed']);
      const all = world.received.filter(({ agent }) => agent === 'next');
      expect(all).toHaveLength(1);
      expect(all[0]?.text).not.toContain(found);
      expect(all[0]?.text).not.toMatch(/content\/res_|Cash back/);
    },
  );

  it('is the same whoever is asked, and however often', async () => {
    const items: ContextItem[][] = [];
    const texts: string[] = [];
    const tries =
      (answers: readonly boolean[]): Behaviour =>
      async ({ context, read, output }) => {
        items.push(context.ContextItems);
        texts.push(await read(context.ContextItems[0]?.ContextID ?? ''));
        await output('rate', found);
        return answers[items.length - 1] === true ? done(context, ['rate']) : context;
      };
    await world.aciAgent('find', tries([]));
    await world.aciAgent('deputy', tries([false, false, true]));
    const report = await run([subtask('find', { fallback: ['deputy'], attempts: 3 })]);
    expect(report.subtasks[0]?.attempts.map(({ agent }) => agent)).toEqual([
      'find',
      'deputy',
      'deputy',
    ]);
    expect(statuses(report)).toEqual(['completed']);
    expect(items[0]).toHaveLength(1);
    expect(items).toEqual([items[0], items[0], items[0]]);
    expect(texts).toEqual(Array.from({ length: 3 }, () => offered[0]?.content));
  });

  it('may be reduced as far as the subtask says, else as far as was offered', async () => {
    const seen: string[] = [];
    await world.aciAgent('find', ({ context }) => {
      seen.push(...context.ContextItems.map(({ Priority }) => Priority));
      return done(context, []);
    });
    await run([subtask('find', { needs: [{ item: 'terms', priority: 'must_preserve' }] })]);
    await run([subtask('find', { needs: [{ item: 'terms', role: 'source' }] })]);
    expect(seen).toEqual(['must_preserve', 'compressible']);
  });

  it('comes in a conversation of its own, which leaves that of the request as it was', async () => {
    await world.aciAgent('find', finds);
    await world.aciAgent('next', ({ context }) => done(context, []));
    const report = await run([find, subtask('next', { dependsOn: ['find'] })]);
    const { dialogs, tasks } = await world.hub.caseView(alice, report.activity);
    const conversations = dialogs.flatMap(({ local }) => local.map(({ localId }) => localId));
    expect(dialogs).toHaveLength(3);
    expect(new Set(conversations).size).toBe(3);
    // One Task in each: the request has no more messages than its user sent.
    expect(new Set(tasks.map(({ dialog }) => dialog)).size).toBe(3);
    const own = await world.hub.via(world.desk).loadTask({ principal: alice }, report.requestTask);
    expect(JSON.stringify(own)).not.toContain(found);
    expect(Object(own?.body).history).toHaveLength(1);
  });
});

describe('what comes of it', () => {
  it('is one failed attempt when an agent cancels its own task, and others go on', async () => {
    await world.plainAgent('find', () => ({
      text: 'I stopped myself. secret-of-its-history',
      state: TaskState.TASK_STATE_CANCELED,
    }));
    await world.aciAgent('next', ({ context }) => done(context, []));
    await world.aciAgent('deputy', finds);
    const report = await run([subtask('find'), subtask('next')]);
    expect(report.done).toBe(true);
    expect(statuses(report)).toEqual(['failed', 'completed']);
    const again = await run([subtask('find', { fallback: ['deputy'], attempts: 2 })]);
    expect(statuses(again)).toEqual(['completed']);
    expect(again.subtasks[0]?.attempts).toMatchObject([
      { agent: 'find', outcome: 'failed' },
      { agent: 'deputy', outcome: 'answered' },
    ]);
    const others = world.received.filter(({ agent }) => agent !== 'find');
    expect(others.length).toBeGreaterThan(1);
    expect(JSON.stringify(others)).not.toContain('secret-of-its-history');
  });

  it('does not stand without what the plan says that it puts out', async () => {
    await world.aciAgent('find', async ({ context, output }) => {
      await output('something else', 'x');
      return done(context, ['something else']);
    });
    await world.aciAgent('next', ({ context }) => done(context, []));
    const report = await run([find, subtask('next', { dependsOn: ['find'], needs: ['rate'] })]);
    expect(statuses(report)).toEqual(['failed', 'skipped']);
    expect(report.subtasks[0]?.attempts[0]?.reason).toBe(
      'output rate was asked for and is not there',
    );
    expect(world.received.filter(({ agent }) => agent === 'next')).toEqual([]);
  });
});
