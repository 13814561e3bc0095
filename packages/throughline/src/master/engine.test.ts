import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import type { RunReport } from '../model/run.ts';
import { done, offered, World } from './conformance.ts';
import { localEngine, type RunEngine } from './engine.ts';
import type { Grader } from './context.ts';
import { masterAgent } from './master-agent.ts';
import { createMaster, type Master, type MasterOptions, type RunRequest } from './master.ts';

let world: World;
let free: () => void;
let begun: string[];
const masters: Master[] = [];

beforeEach(async () => {
  world = await World.open();
  begun = [];
  const gate = Promise.withResolvers<void>();
  free = () => gate.resolve();
  await world.aciAgent('slow', async ({ context, output, message }) => {
    begun.push(message.messageId);
    await gate.promise;
    await output('rate', 'two per cent');
    return done(context, ['rate']);
  });
  await world.aciAgent('asker', async ({ context, output, ask }) => {
    await output('month', await ask('Of which month?'));
    return done(context, ['month']);
  });
});
afterEach(async () => {
  free();
  for (const master of masters.splice(0)) await master.close();
  await world.close();
});

/** A Master in what stands for a process of its own: it shares nothing but the hub. */
function process({
  engine = localEngine(world.hub.master(world.desk)),
  ...options
}: Partial<MasterOptions> = {}): { master: Master; engine: RunEngine; faults: unknown[] } {
  const faults: unknown[] = [];
  const master = createMaster({
    ports: world.hub.master(world.desk),
    engine,
    a2a: world.hub,
    principal: world.desk,
    name: 'Desk',
    agents: world.agents,
    retryMs: 5,
    lookMs: 20,
    onFault: (error) => faults.push(error),
    ...options,
  });
  masters.push(master);
  return { master, engine, faults };
}

async function request(agent = 'slow'): Promise<RunRequest> {
  const subtask = {
    id: 'one',
    name: 'One',
    agent,
    needs: ['terms'],
    todo: [{ id: 'do', description: 'Do it' }],
    evaluation: 'relaxed' as const,
  };
  const workflow = { name: 'One', subtasks: [subtask] };
  return { taskId: await world.request('Is it right?'), query: 'Is it right?', workflow, offered };
}

const atWork = (): Promise<void> => vi.waitFor(() => expect(begun).toHaveLength(1), 20_000);
const theRun = async (master: Master): Promise<string> => {
  const [runId = ''] = await master.openRuns();
  return runId;
};

/** Fails so often, in the middle of a run, as a model that is away does. */
const failing = (times: number, error: Error): { grade: Grader; asked: () => number } => {
  let asked = 0;
  const grade: Grader = () => {
    asked += 1;
    if (asked <= times) throw error;
    return undefined;
  };
  return { grade, asked: () => asked };
};

describe('several processes of one Master', () => {
  it('drive a run in one of them, and all who asked for it get its report', async () => {
    const asked = await request();
    const [first, second] = [process().master, process().master];
    const [one, other] = [first.run(asked), second.run(asked)].map((each) =>
      each.then((report) => report.status),
    );
    await atWork();
    free();
    expect(await Promise.all([one, other])).toEqual(['completed', 'completed']);
    expect(begun).toHaveLength(1);
  });

  it('wait for another one that drives the run, when they are told to resume it', async () => {
    const asked = await request();
    const [first, second] = [process().master, process().master];
    const run = first.run(asked);
    await atWork();
    const resumed = second.resume(await theRun(second));
    free();
    expect((await resumed).status).toBe('completed');
    expect((await run).status).toBe('completed');
    expect(begun).toHaveLength(1);
  });

  it('go on by themselves with what one left that closed', async () => {
    const asked = await request();
    const [first, second] = [process().master, process().master];
    const run = first.run(asked);
    run.catch(() => undefined);
    await atWork();
    const runId = await theRun(first);
    await first.close();
    await expect(run).rejects.toThrow();
    free();
    await vi.waitFor(async () => expect((await second.status(runId)).done).toBe(true), 20_000);
    expect(await second.status(runId)).toMatchObject({ status: 'completed' });
    expect((await second.status(runId)).subtasks[0]?.attempts).toHaveLength(1);
    expect(begun).toHaveLength(1);
  });

  it('leave alone what waits for the user, and go on wherever the answer comes', async () => {
    const [first, second] = [process().master, process().master];
    const waiting = await first.run(await request('asker'));
    expect(waiting.status).toBe('awaiting-input');
    const { runId } = waiting;
    await first.close();
    expect(await world.hub.master(world.desk).leftRuns()).toEqual([]);
    await second.answer(runId, { id: 'a', text: 'May' });
    expect((await second.resume(runId)).status).toBe('completed');
  });

  it('do at once what another one is told while they drive', async () => {
    const asked = await request();
    const [first, second] = [process().master, process().master];
    const run = first.run(asked);
    await atWork();
    const runId = await theRun(second);
    await vi.waitFor(async () => {
      // What the agent calls its task is on record, so that it can be asked to stop.
      const stored = await world.hub.master(world.desk).loadRun(runId);
      expect(stored?.state).toMatchObject({ subtasks: { one: { attempts: [{ local: {} }] } } });
    }, 20_000);
    const cancelled = await second.cancel(runId);
    expect(cancelled).toMatchObject({ status: 'cancelled', done: true });
    expect(cancelled.answers).toMatchObject({ stopped: [{ subtask: 'one' }] });
    expect((await run).status).toBe('cancelled');
  });

  it('give way to another one that took the run up, and send nothing more', async () => {
    const asked = await request();
    const first = process();
    const run = first.master.run(asked);
    await atWork();
    const hub = world.hub.master(world.desk);
    const second = process();
    const runId = await theRun(second.master);
    await vi.waitFor(async () => {
      // It said nothing for too long, and the hub holds it for gone.
      await hub.leave({ worker: first.engine.process });
      expect((await hub.loadRun(runId))?.driver).toBe(second.engine.process);
    }, 20_000);
    free();
    expect((await run).status).toBe('completed');
    expect((await second.master.status(runId)).subtasks[0]?.attempts).toHaveLength(1);
    expect(begun).toHaveLength(1);
    expect([...first.faults, ...second.faults]).toEqual([]);
  });

  it('leave alone what its caller gave up, until somebody resumes it', async () => {
    const asked = await request();
    const [first, second] = [process().master, process().master];
    const stop = new AbortController();
    const run = first.run(asked, { signal: stop.signal });
    await atWork();
    const runId = await theRun(first);
    stop.abort(new Error('not now'));
    await expect(run).rejects.toThrow();
    const hub = world.hub.master(world.desk);
    expect((await hub.loadRun(runId))?.driver).toBeUndefined();
    expect(await hub.leftRuns()).toEqual([]);
    free();
    expect((await second.resume(runId)).status).toBe('completed');
    expect(begun).toHaveLength(1);
  });

  const away = new ThroughlineError('unavailable', 'the model is away', { retryable: true });
  const again = { attempts: 3, firstMs: 5, capMs: 20 };

  it('go on by themselves with what they could not go on with for a reason that passes', async () => {
    const { grade } = failing(2, away);
    const { master, faults } = process({ grade, again });
    free();
    expect((await master.run(await request())).status).toBe('completed');
    expect(faults).toEqual([away, away]);
    expect(begun).toHaveLength(1);
  });

  it('leave what does not pass after all, say why, and go on with it when it is resumed', async () => {
    const { grade, asked } = failing(3, away);
    const [first, second] = [process({ grade, again }).master, process({ grade, again }).master];
    free();
    const asks = await request();
    const hub = world.hub.master(world.desk);
    const answer = await masterAgent({ master: first, ports: hub, request: () => asks }).onMessage(
      { messageId: 'first', text: asks.query, parts: [], earlier: [] },
      {
        taskId: asks.taskId,
        contextId: 'context',
        caller: world.desk,
        signal: new AbortController().signal,
        progress: () => undefined,
      },
    );
    expect(answer).toMatchObject({
      asks: true,
      text: expect.stringContaining('(the model is away); any message'),
    });
    expect(asked()).toBe(3);
    const left = await second.status(await theRun(second));
    expect(left).toMatchObject({ status: 'suspended', done: false, reason: 'the model is away' });
    expect((await hub.loadRun(left.runId))?.driver).toBeUndefined();
    expect(await hub.leftRuns()).toEqual([]);
    const resumed = await second.resume(left.runId);
    expect(resumed.status).toBe('completed');
    expect(resumed).not.toHaveProperty('reason');
    expect(begun).toHaveLength(1);
  });

  it('leave at once what no waiting mends, with the reason, and tell whoever asked', async () => {
    const { grade } = failing(1, new ThroughlineError('internal', 'a broken grader'));
    const { master } = process({ grade, again });
    free();
    await expect(master.run(await request())).rejects.toThrow('a broken grader');
    const runId = await theRun(master);
    expect(await master.status(runId)).toMatchObject({
      status: 'suspended',
      reason: 'a broken grader',
    });
    expect((await master.resume(runId)).status).toBe('completed');
  });

  it('do not wait any longer once they are told to resume', async () => {
    const { grade, asked } = failing(1, away);
    const { master } = process({ grade, again: { attempts: 3, firstMs: 600_000, capMs: 600_000 } });
    free();
    const run = master.run(await request());
    await vi.waitFor(() => expect(asked()).toBe(1), 20_000);
    const runId = await theRun(master);
    await vi.waitFor(async () => {
      void master.resume(runId);
      expect((await master.status(runId)).done).toBe(true);
    }, 20_000);
    expect((await run).status).toBe('completed');
  });

  it('heed at once what is decided while they wait', async () => {
    const { grade, asked } = failing(1, away);
    const { master } = process({ grade, again: { attempts: 3, firstMs: 600_000, capMs: 600_000 } });
    free();
    const ended = vi.fn<(report: RunReport) => void>();
    void master.run(await request()).then(ended);
    await vi.waitFor(() => expect(asked()).toBe(1), 20_000);
    const runId = await theRun(master);
    await vi.waitFor(async () => {
      await master.suspend(runId);
      // What is under way comes to its end: its only attempt was answered before.
      expect(ended).toHaveBeenCalledWith(expect.objectContaining({ status: 'completed' }));
    }, 20_000);
  });

  it('begin later what the engine could not carry', async () => {
    const inner = localEngine(world.hub.master(world.desk));
    let tries = 0;
    const engine: RunEngine = {
      ...inner,
      carry: async (run) => {
        tries += 1;
        if (tries === 1) throw away;
        await inner.carry(run);
      },
    };
    const { master } = process({ engine, again });
    free();
    await expect(master.run(await request())).rejects.toMatchObject({ code: 'unavailable' });
    const runId = await theRun(master);
    await vi.waitFor(async () => expect((await master.status(runId)).done).toBe(true), 30_000);
    expect(begun).toHaveLength(1);
  });

  it('leave what the engine never carries, with its reason', async () => {
    const inner = localEngine(world.hub.master(world.desk));
    let isAway = true;
    const carry: RunEngine['carry'] = async (run) => {
      if (isAway) throw away;
      await inner.carry(run);
    };
    const { master } = process({ engine: { ...inner, carry }, again: { ...again, attempts: 2 } });
    free();
    await expect(master.run(await request())).rejects.toThrow('the model is away');
    const runId = await theRun(master);
    await vi.waitFor(async () => {
      expect(await master.status(runId)).toMatchObject({ reason: 'the model is away' });
    }, 30_000);
    isAway = false;
    expect((await master.resume(runId)).status).toBe('completed');
  });

  it('drive once what an engine calls for twice, and nothing once it is over', async () => {
    const asked = await request();
    const leases = world.hub.master(world.desk);
    const inner = localEngine(leases);
    let repeat: (() => Promise<void>) | undefined;
    const engine: RunEngine = {
      ...inner,
      serve: (drive) =>
        inner.serve(async (runId) => {
          repeat = () => drive(runId);
          await Promise.all([drive(runId), drive(runId)]);
        }),
    };
    const { master } = process({ engine });
    const run = master.run(asked);
    await atWork();
    free();
    expect((await run).status).toBe('completed');
    await repeat?.();
    expect(begun).toHaveLength(1);
  });
});
