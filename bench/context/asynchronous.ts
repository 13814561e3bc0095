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
/** What one subtask waits for, as for a model or a person; far above what handing over costs. */
const waitMs = 5_000;
/** The least share of the ideal speed-up, which is one subtask's time for all of them. */
const bar = 0.85;

const waits: AgentHandler = async (_, io) => {
  await sleep(waitMs);
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
    const millis = await measured(hub);
    const [inTurn, together] = [
      millis.get('SynchronousContextInteraction') ?? 0,
      millis.get('AsynchronousContextInteraction') ?? 0,
    ];
    const share = inTurn / together / subtasks;
    return row({
      name: `${subtasks} independent subtasks that wait ${waitMs / 1_000} s each, asynchronously`,
      unit: `of the ideal speed-up of ${subtasks} ×`,
      ours: share,
      beside: 1 / subtasks,
      besideWhat: 'one round after the other',
      spread: { 'synchronous, s': inTurn / 1_000, 'asynchronous, s': together / 1_000 },
      bar,
    });
  } finally {
    await hub.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measured({
  url,
  localKey,
}: {
  url: string;
  localKey: string;
}): Promise<Map<Interaction, number>> {
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
    handler: waits,
  });
  const master = createMaster({
    ports: desk.client.master(),
    a2a: desk.client,
    principal: desk.principal,
    name: 'desk',
    parallel: subtasks,
    agents: [{ id: 'waiter', name: 'waiter', url: worker.url, behind: 'hub' }],
  });
  const millis = new Map<Interaction, number>();
  const front = await serveAgent({
    card,
    ports: desk.client.ports(),
    principal: desk.principal,
    onMessage: async ({ text }, { taskId }) => {
      const interaction =
        text === 'synchronous' ? 'SynchronousContextInteraction' : 'AsynchronousContextInteraction';
      const begun = performance.now();
      const request = { taskId, query: text, workflow: workflow(interaction), offered };
      const { status } = await master.run(request);
      millis.set(interaction, performance.now() - begun);
      return { text: status };
    },
  });
  const caller = await connectA2a({
    url: front.url,
    credential: `Bearer ${localKey}`,
    self: { kind: 'user', name: 'bench' },
  });
  // The first run warms up, and does not count.
  for (const text of ['asynchronous', 'synchronous', 'asynchronous']) {
    const { text: status } = await caller.send({ parts: [{ kind: 'text', text }] });
    if (status !== 'completed') throw new Error(`a run ended as ${status}`);
  }
  await caller.close();
  await Promise.all([front.close(1_000), worker.close(1_000)]);
  return millis;
}
