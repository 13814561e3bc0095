/** One case while hub and desk are killed in the middle of it, again and again, and started anew. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectA2a, type A2aClient, type PeerTask } from 'throughline/a2a';
import type { CaseView } from 'throughline/model';
import { answerIn, customerPrincipal } from '../agents/desk-agent.ts';
import type { DeskCase } from '../cases.ts';
import { DeskProcesses } from './desk-processes.ts';

/** Milliseconds after the message within which hub and desk are killed for the first time. */
const firstKillMs = 6_000;
/** Milliseconds between two kills, at most. */
const nextKillMs = 3_000;
const mostKills = 3;
/** Milliseconds for the case to end, whatever happens to it. */
const caseMs = 180_000;

/** What came of one case. */
export interface Survived {
  /** Milliseconds after the message at which hub and desk were killed. */
  killedAt: number[];
  tookMs: number;
  answer: PeerTask;
  /** Transactions of the answer. */
  rows: string[];
  /** A2A ids of the customer's tasks at the desk. */
  listed: string[];
  /** A2A id of the task that the same message leads to when it comes once more. */
  again: string | undefined;
  /** By name of the agent: how its tasks stand in the graph. */
  tasks: Record<string, string[]>;
  /** By name of the agent: names of what its tasks put out, each as often as it is there. */
  outputs: Record<string, string[]>;
  conflicts: CaseView['conflicts'];
  cases: number;
}

/** Numbers from 0 to 1, the same ones for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sends one case and kills hub and desk at moments that follow from the seed, till it has ended. */
export async function surviveKills(one: DeskCase, seed: number): Promise<Survived> {
  const dataDir = mkdtempSync(join(tmpdir(), 'throughline-kill-'));
  const captures = {
    policyReader: join(dataDir, 'given-to-policy-reader.jsonl'),
    caseWriter: join(dataDir, 'given-to-case-writer.jsonl'),
  };
  for (const file of Object.values(captures)) writeFileSync(file, '', { mode: 0o600 });
  let desk: DeskProcesses | undefined;
  // The policy reader waits in the middle of its work until it is killed, too.
  const { promise: holding, resolve: holds } = Promise.withResolvers<void>();
  try {
    desk = await DeskProcesses.start({
      dataDir,
      localKey: () => readFileSync(join(dataDir, 'local.key'), 'utf8').trim(),
      captures,
      known: [],
      otherTenant: 'A case of another bank.',
      onSaying: ({ kind }) => {
        if (kind === 'holding') holds();
      },
    });
    return await run(desk, one, seed, holding);
  } finally {
    await desk?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function run(
  desk: DeskProcesses,
  one: DeskCase,
  seed: number,
  holding: Promise<void>,
): Promise<Survived> {
  const random = randomFrom(seed);
  const customer = customerPrincipal(one.customer);
  const connection = await connectA2a({
    url: `${desk.parts.hub.url}/agents/desk/`,
    credential: `Bearer ${await desk.keyFor(customer)}`,
    self: { kind: 'user', name: customer },
    retry: { attempts: 200, firstMs: 100, capMs: 1_000 },
  });
  try {
    const begun = performance.now();
    const message = {
      messageId: randomUUID(),
      parts: [{ kind: 'text' as const, text: one.openingMessage }],
    };
    const answered = connection.send(message, { timeoutMs: caseMs });
    const killedAt: number[] = [];
    const kills = killing(desk, random, holding, () => killedAt.push(since(begun)));
    const answer = await Promise.race([answered, kills.then(() => answered)]);
    const tookMs = since(begun);
    await kills;
    const again = await connection.send(message, { timeoutMs: caseMs });
    return { killedAt, tookMs, answer, again: again.taskId, ...(await seen(desk, connection)) };
  } finally {
    await connection.close();
  }
}

const since = (begun: number): number => Math.round(performance.now() - begun);

/** One process after the other: each of them needs the hub to start. */
async function killing(
  desk: DeskProcesses,
  random: () => number,
  holding: Promise<void>,
  killed: () => void,
): Promise<void> {
  let last = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work);
    return last;
  };
  const reader = holding.then(() => inTurn(() => desk.killAndRestart('policyReader')));
  const kills = 1 + Math.floor(random() * mostKills);
  for (let n = 0; n < kills; n++) {
    await sleep(random() * (n === 0 ? firstKillMs : nextKillMs));
    await inTurn(() => {
      killed();
      return desk.killAndRestartHub();
    });
  }
  await reader;
}

async function seen(desk: DeskProcesses, connection: A2aClient) {
  const { tasks: listed } = await connection.listTasks();
  const { operator } = desk.parts;
  const { cases } = await operator.cases();
  const view = await operator.caseView(listed[0]?.contextId ?? '');
  const full = await Promise.all(listed.map(({ taskId = '' }) => connection.getTask(taskId)));
  const parts = full.flatMap(({ outputs }) => outputs.flatMap((output) => output.parts));
  return {
    rows: (answerIn(parts)?.rows ?? []).map(({ transaction_id }) => transaction_id).toSorted(),
    listed: listed.map(({ taskId = '' }) => taskId),
    ...byAgent(view),
    conflicts: view.conflicts,
    cases: cases.length,
  };
}

/** What each agent of a case did, by the graph. */
function byAgent(view: CaseView): Pick<Survived, 'tasks' | 'outputs'> {
  const tasks: Survived['tasks'] = {};
  const outputs: Survived['outputs'] = {};
  const agentIn = (dialog: string): string => {
    const ids = view.dialogs.find(({ id }) => id === dialog)?.participants ?? [];
    const agents = view.participants.filter(({ id, kind }) => ids.includes(id) && kind === 'agent');
    const others = agents.filter(({ name }) => name !== 'Desk');
    return (others[0] ?? agents[0])?.name ?? dialog;
  };
  const resources = new Map(view.resources.map(({ id, name }) => [id, name ?? id]));
  for (const { id, dialog, state, unresolved } of view.tasks) {
    const agent = agentIn(dialog);
    (tasks[agent] ??= []).push(unresolved === true ? `${state}?` : state);
    const own = view.relationships
      .filter(({ type, to, status }) => type === 'output-of' && to === id && status === 'active')
      .map(({ from }) => resources.get(from) ?? from);
    outputs[agent] = [...(outputs[agent] ?? []), ...own].toSorted();
  }
  return { tasks, outputs };
}
