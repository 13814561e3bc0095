import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectA2a } from 'throughline/a2a';
import { serveAgent, type AgentHandler } from 'throughline/agent';
import { startHub } from 'throughline/cli';
import { HubClient } from 'throughline/client';
import { createMaster, type Interaction, type WorkflowInput } from 'throughline/master';
import { row, type Row } from './row.ts';

const subtasks = 8;
/**
 * How long one subtask waits, as for a model or a person: the first for the row, the others beside it, where
 * what handing over costs shows more.
 */
const waitsMs = [5_000, 2_000];
/** The least share of the ideal speed-up, which is one subtask's time for all of them. */
const bar = 0.85;

const waits =
  (ms: () => number): AgentHandler =>
  async (_, io) => {
    await sleep(ms());
    await io.itemDone('wait', 'Waited');
  };

const workflow = (interaction: Interaction): WorkflowInput => ({
  name: 'Independent',
  interaction,
  subtasks: Array.from({ length: subtasks }, (_, at) => ({
    id: `wait-${at}`,
    name: `Wait ${at}`,
    agent: 'waiter',
    needs: ['notes'],
    todo: [{ id: 'wait', description: 'Wait' }],
    evaluation: 'relaxed' as const,
  })),
});

const offered = [
  {
    name: 'notes',
    type: 'text' as const,
    mediaType: 'text/plain',
    description: 'Notes',
    content: 'Nothing of note.',
  },
];

/** Both interactions on one hub with SQLite, its agent and its Master over HTTP. */
export async function asynchronousRow(): Promise<Row> {
  const dataDir = mkdtempSync(join(tmpdir(), 'throughline-bench-'));
  const hub = await startHub({ dataDir, port: 0 });
  try {
    const [main, ...others] = await measured(hub);
    if (main === undefined) throw new Error('nothing was measured');
    return row({
      name: `${subtasks} independent subtasks that wait ${main.waitMs / 1_000} s each, asynchronously`,
      unit: `of the ideal speed-up of ${subtasks} ×`,
      ours: shareOf(main),
      beside: 1 / subtasks,
      besideWhat: 'one round after the other',
      spread: {
        'synchronous, s': main.inTurn.ms / 1_000,
        'asynchronous, s': main.together.ms / 1_000,
        'ms of processor time a subtask': main.together.processorMs / subtasks,
        ...Object.fromEntries(
          others.map((each) => [`with waits of ${each.waitMs / 1_000} s`, shareOf(each)]),
        ),
      },
      bar,
    });
  } finally {
    await hub.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Took {
  readonly ms: number;
  /** Of hub, agent and Master, which are one process. */
  readonly processorMs: number;
}

interface Measured {
  readonly waitMs: number;
  readonly inTurn: Took;
  readonly together: Took;
}

const shareOf = ({ inTurn, together }: Measured): number => inTurn.ms / together.ms / subtasks;

async function measured({ url, localKey }: { url: string; localKey: string }): Promise<Measured[]> {
  let waitMs = 0;
  const operator = new HubClient({ url, key: localKey });
  const { tenant } = await operator.whoAmI();
  const as = async (id: string) => {
    const principal = { tenant, id, role: 'agent' } as const;
    const { key } = await operator.createKey({ principal });
    return { client: new HubClient({ url, key }), principal };
  };
  const [waiter, desk] = [await as('waiter'), await as('desk')];
  const card = { name: 'bench', description: 'Bench', version: '1.0.0' };
  const worker = await serveAgent({
    card,
    ports: waiter.client.ports(),
    principal: waiter.principal,
    handler: waits(() => waitMs),
  });
  const master = createMaster({
    ports: desk.client.master(),
    a2a: desk.client,
    principal: desk.principal,
    name: 'desk',
    parallel: subtasks,
    agents: [{ id: 'waiter', name: 'waiter', url: worker.url, behind: 'hub' }],
  });
  let last: Took = { ms: 0, processorMs: 0 };
  const front = await serveAgent({
    card,
    ports: desk.client.ports(),
    principal: desk.principal,
    onMessage: async ({ text }, { taskId }) => {
      const interaction =
        text === 'synchronous' ? 'SynchronousContextInteraction' : 'AsynchronousContextInteraction';
      const begun = { at: performance.now(), processor: process.cpuUsage() };
      const request = { taskId, query: text, workflow: workflow(interaction), offered };
      const { status } = await master.run(request);
      const { user, system } = process.cpuUsage(begun.processor);
      last = { ms: performance.now() - begun.at, processorMs: (user + system) / 1_000 };
      return { text: status };
    },
  });
  const caller = await connectA2a({
    url: front.url,
    credential: `Bearer ${localKey}`,
    self: { kind: 'user', name: 'bench' },
  });
  const run = async (text: 'synchronous' | 'asynchronous'): Promise<Took> => {
    const { text: status } = await caller.send({ parts: [{ kind: 'text', text }] });
    if (status !== 'completed') throw new Error(`a run ended as ${status}`);
    return last;
  };
  // The first run warms up, and does not count.
  await run('asynchronous');
  const all: Measured[] = [];
  for (waitMs of waitsMs) {
    all.push({ waitMs, inTurn: await run('synchronous'), together: await run('asynchronous') });
  }
  await caller.close();
  await Promise.all([front.close(1_000), worker.close(1_000)]);
  return all;
}
