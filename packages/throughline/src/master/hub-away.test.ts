import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { alice, cashBackAgents, offered, workflow, World } from './conformance.ts';
import { createMaster } from './master.ts';
import { patient } from './patient.ts';
import type { MasterPorts } from './ports.ts';

let world: World;
beforeAll(async () => {
  world = await World.open();
  await cashBackAgents(world);
});
afterAll(() => world.close());

const down = (): ThroughlineError => new ThroughlineError('unavailable', 'the hub is away');
const quick = { attempts: 5, firstMs: 1, capMs: 2 };

/** Ports of which each call fails twice: the hub is away at first, then its answer gets lost. */
function shaky(ports: MasterPorts): MasterPorts {
  const shaken = new Map<string, number>();
  const shake = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const tried = (shaken.get(name) ?? 0) + 1;
    shaken.set(name, tried);
    if (tried === 1) throw down();
    const result = await call();
    if (tried === 2) throw down();
    return result;
  };
  return {
    newId: (kind) => ports.newId(kind),
    participant: (party) => shake('participant', () => ports.participant(party)),
    assert: (drafts) => shake('assert', () => ports.assert(drafts)),
    locate: (id) => shake('locate', () => ports.locate(id)),
    putContent: (content) => shake('putContent', () => ports.putContent(content)),
    getContent: (uri, token) => shake('getContent', () => ports.getContent(uri, token)),
    readToken: (request) => shake('readToken', () => ports.readToken(request)),
    callToken: (request) => shake('callToken', () => ports.callToken(request)),
    saveRun: (run) => shake(`saveRun ${run.expected}`, () => ports.saveRun(run)),
    loadRun: (id) => shake('loadRun', () => ports.loadRun(id)),
    openRuns: () => shake('openRuns', () => ports.openRuns()),
    saveHandover: (handover, texts) =>
      shake('saveHandover', () => ports.saveHandover(handover, texts)),
  };
}

describe('a Master whose hub goes away', () => {
  it('waits for it at each step, and does nothing twice', async () => {
    const taskId = await world.request('Is my cash back right?');
    const master = createMaster({
      ports: shaky(world.hub.master(world.desk)),
      a2a: world.hub,
      principal: world.desk,
      name: 'Desk',
      agents: world.agents,
      retryMs: 5,
    });
    const report = await master.run({ taskId, query: 'Is it right?', workflow, offered });
    expect(report.taskContext.OverallStatus).toBe('completed');
    expect(report.subtasks.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
    const view = await world.hub.caseView(alice, report.activity);
    expect(view.conflicts).toEqual([]);
    expect(view.tasks).toHaveLength(3);
    expect(view.handovers).toHaveLength(2);
  }, 60_000);

  it('gives way to another that decided while its answer was lost', async () => {
    const taskId = await world.request('Is my cash back right?');
    const ports = world.hub.master(world.desk);
    const { activity, task: id } = await ports.locate(taskId);
    const run = (state: unknown, expected: number) => ({
      id,
      activity,
      done: true,
      state,
      expected,
    });
    let tries = 0;
    const losing: MasterPorts = {
      ...shaky(ports),
      loadRun: (runId) => ports.loadRun(runId),
      saveRun: async (mine) => {
        tries += 1;
        if (tries === 1) {
          await ports.saveRun(run('theirs', 0));
          throw down();
        }
        return ports.saveRun(mine);
      },
    };
    const save = patient(losing, losing, undefined, quick).saveRun(run('ours', 0));
    await expect(save).rejects.toMatchObject({ code: 'conflict' });
    expect(await ports.loadRun(id)).toMatchObject({ state: 'theirs' });
  });

  it('stops waiting when the run is given up', async () => {
    const stop = new AbortController();
    const ports = shaky(world.hub.master(world.desk));
    const away = { ...ports, openRuns: () => Promise.reject(down()) };
    const waiting = patient(away, away, stop.signal).openRuns();
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  });
});
