import { afterEach, beforeEach, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { cashBackAgents, offered, workflow, World } from './conformance.ts';
import { createMaster, type Master } from './master.ts';
import type { RunStore } from './ports.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
  await cashBackAgents(world);
});
afterEach(() => world.close());

/** Runs in a map: what an engine for durable execution, or any table with versions, would keep. */
function mapStore(): RunStore & { saves: number } {
  const runs = new Map<string, { text: string; version: number; done: boolean }>();
  return {
    saves: 0,
    saveRun({ id, done, state, expected }) {
      const version = runs.get(id)?.version ?? 0;
      if (version !== expected) {
        return Promise.reject(new ThroughlineError('conflict', `the run is at ${version}`));
      }
      this.saves += 1;
      runs.set(id, { text: JSON.stringify(state), version: version + 1, done });
      return Promise.resolve({ version: version + 1 });
    },
    loadRun(id) {
      const run = runs.get(id);
      return Promise.resolve(run && { state: JSON.parse(run.text), version: run.version });
    },
    openRuns: () => Promise.resolve([...runs].flatMap(([id, { done }]) => (done ? [] : [id]))),
  };
}

it('a run may be kept elsewhere than at the hub, and goes on from there', async () => {
  const runs = mapStore();
  const master = (): Master =>
    createMaster({
      ports: world.hub.master(world.desk),
      runs,
      a2a: world.hub,
      principal: world.desk,
      name: 'Desk',
      agents: world.agents,
      retryMs: 5,
    });
  const taskId = await world.request('Is my cash back right?');
  const request = { taskId, query: 'Is it right?', workflow, offered };
  const stop = new AbortController();
  const left = master().run(request, {
    signal: stop.signal,
    onEvent: ({ kind }) => {
      if (kind === 'subtask-finished') stop.abort(new Error('the process ends'));
    },
  });
  await expect(left).rejects.toThrow();
  const [runId = ''] = await master().openRuns();
  const before = world.received.filter(({ agent }) => agent === 'reader').length;
  const report = await master().resume(runId);
  expect(report).toMatchObject({ status: 'completed', done: true });
  expect(world.received.filter(({ agent }) => agent === 'reader')).toHaveLength(before);
  expect(runs.saves).toBeGreaterThan(4);
  expect(await world.hub.master(world.desk).loadRun(runId)).toBeUndefined();
  expect(await master().openRuns()).toEqual([]);
});
