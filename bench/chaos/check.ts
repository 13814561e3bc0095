/** Holds the outside ledger against what the hub has when everything stands again. */
import type { A2aClient, PeerTask } from 'throughline/a2a';
import type { HubClient } from 'throughline/client';
import type { CaseView } from 'throughline/model';
import { outputsOf, type Caller, type Sent } from './callers.ts';
import { readEffects, type Effect, type Entry, type Ledger } from './ledger.ts';
import { contentOf, digestOf } from './orders.ts';

/** Milliseconds for work that nobody waits for any more to come to rest. */
const restMs = 120_000;
const finalStates = new Set(['completed', 'failed', 'cancelled', 'rejected', 'timed-out']);

type Of<K extends Entry['kind']> = Extract<Entry, { kind: K }>;
const of = <K extends Entry['kind']>(ledger: Ledger, kind: K): Of<K>[] =>
  ledger.entries.filter((entry): entry is Of<K> => entry.kind === kind);

/** Sentences about what does not agree; none when all does. */
export async function disagreements(
  operator: HubClient,
  callers: readonly Caller[],
  ledger: Ledger,
  effects: string,
): Promise<string[]> {
  const wrong: string[] = callers.flatMap((caller) => caller.wrong);
  for (const caller of callers) wrong.push(...(await tasksOf(caller, ledger)));
  const views = new Map<string, CaseView>();
  for (const contextId of new Set(of(ledger, 'begun').map((each) => each.contextId))) {
    views.set(contextId, await operator.caseView(contextId));
  }
  wrong.push(...graphOf(views, callers, ledger));
  wrong.push(...(await workOf(operator, callers, ledger)));
  wrong.push(...effectsOf(readEffects(effects), callers, ledger));
  return wrong;
}

/** Each message led to one task, which is what was acknowledged; and there are no others. */
async function tasksOf(caller: Caller, ledger: Ledger): Promise<string[]> {
  const wrong: string[] = [];
  const [client] = caller.clients;
  if (client === undefined) return wrong;
  for (const sent of caller.sent) {
    const again = await sentAgain(client, sent.message, wrong);
    if (again === undefined) continue;
    if (sent.taskId !== '' && again.taskId !== sent.taskId) {
      wrong.push(`message ${sent.message.messageId}: was ${sent.taskId}, is ${again.taskId}`);
    }
    Object.assign(sent, { taskId: again.taskId ?? '', contextId: again.contextId });
  }
  const listed = await everyTask(client);
  const expected = new Set(caller.sent.map(({ taskId }) => taskId));
  for (const { taskId = '' } of listed) {
    if (!expected.delete(taskId)) wrong.push(`task ${taskId} of ${caller.id}: came of no message`);
  }
  for (const taskId of expected) wrong.push(`task ${taskId} of ${caller.id}: is not listed`);
  for (const ended of of(ledger, 'ended')) {
    if (!caller.sent.some(({ taskId }) => taskId === ended.taskId)) continue;
    const now = await client.getTask(ended.taskId);
    if (now.state !== ended.state) {
      wrong.push(`task ${ended.taskId}: ended ${ended.state}, is ${now.state}`);
    }
    const outputs = JSON.stringify(outputsOf(now));
    if (outputs !== JSON.stringify(ended.outputs)) {
      wrong.push(`task ${ended.taskId}: put out ${JSON.stringify(ended.outputs)}, has ${outputs}`);
    }
  }
  return wrong;
}

/** What the same message leads to now; said to be wrong when that never comes to rest. */
async function sentAgain(
  client: A2aClient,
  message: Sent['message'],
  wrong: string[],
): Promise<PeerTask | undefined> {
  try {
    return await client.send(message, { timeoutMs: restMs });
  } catch (error) {
    wrong.push(`message ${message.messageId}: ${String(error)}`);
    return undefined;
  }
}

async function everyTask(client: A2aClient): Promise<PeerTask[]> {
  const all: PeerTask[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTasks({ pageSize: 100, ...(cursor && { cursor }) });
    all.push(...page.tasks);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

/** The graph says the same as the protocol's records: each task once, over, with its outputs once. */
function graphOf(
  views: ReadonlyMap<string, CaseView>,
  callers: readonly Caller[],
  ledger: Ledger,
): string[] {
  const wrong: string[] = [];
  const ended = new Map(of(ledger, 'ended').map((each) => [each.taskId, each]));
  for (const { conflicts, summary } of views.values()) {
    for (const { rule, message } of conflicts) {
      wrong.push(`case ${summary.contextId}: conflict ${rule}, ${message}`);
    }
  }
  for (const { taskId, contextId, order } of callers.flatMap(({ sent }) => sent)) {
    const view = views.get(contextId);
    const found = view?.tasks.filter(({ localId }) => localId === taskId) ?? [];
    const [task] = found;
    if (view === undefined || task === undefined || found.length !== 1) {
      if (ended.has(taskId)) wrong.push(`task ${taskId}: is ${found.length} times in the graph`);
      continue;
    }
    if (!finalStates.has(task.state)) wrong.push(`task ${taskId}: never ended, is ${task.state}`);
    if (task.unresolved === true) wrong.push(`task ${taskId}: ended, and is unresolved`);
    const state = ended.get(taskId)?.state;
    if (state !== undefined && state !== task.state) {
      wrong.push(`task ${taskId}: ended ${state}, is ${task.state} in the graph`);
    }
    if (order === undefined || state !== 'completed') continue;
    const put = view.relationships.filter(
      ({ type, to, status }) => type === 'output-of' && to === task.id && status === 'active',
    );
    const digests = put.map(
      ({ from }) => view.resources.find(({ id }) => id === from)?.digest ?? from,
    );
    const steps = Array.from({ length: order.steps }, (_, at) =>
      digestOf(contentOf(order, at + 1)),
    );
    if (digests.toSorted().join() !== steps.toSorted().join()) {
      wrong.push(`task ${taskId}: should have put out ${steps.length}, put out ${digests.length}`);
    }
  }
  return wrong;
}

/** Grants, labels and the assertions that say them are there. */
async function workOf(
  operator: HubClient,
  callers: readonly Caller[],
  ledger: Ledger,
): Promise<string[]> {
  const wrong: string[] = [];
  const ownerOf = (contextId: string): Caller | undefined =>
    callers.find(({ sent }) => sent.some((each) => each.contextId === contextId));
  for (const { contextId, grant } of of(ledger, 'granted')) {
    const grants = (await ownerOf(contextId)?.hub.grants(contextId)) ?? [];
    if (!grants.some(({ id }) => id === grant)) wrong.push(`grant ${grant}: is not there`);
  }
  for (const contextId of new Set(of(ledger, 'labelled').map((each) => each.contextId))) {
    const tried = ledger.entries.filter(
      (entry) =>
        (entry.kind === 'labelling' || entry.kind === 'labelled') && entry.contextId === contextId,
    );
    const last = tried.findLastIndex(({ kind }) => kind === 'labelled');
    const may = tried.slice(last).flatMap((entry) => ('value' in entry ? [entry.value] : []));
    const { summary } = await operator.caseView(contextId);
    const value = summary.labels?.['chaos'] ?? '';
    if (!may.includes(value)) wrong.push(`case ${contextId}: label is ${value}, not ${may.join()}`);
    const said = of(ledger, 'labelled').filter((each) => each.contextId === contextId);
    const told = await timelineOf(operator, contextId);
    for (const id of said.flatMap(({ assertions }) => assertions)) {
      if (!told.has(id)) wrong.push(`assertion ${id}: is not in the timeline of ${contextId}`);
    }
  }
  return wrong;
}

async function timelineOf(operator: HubClient, id: string): Promise<ReadonlySet<string>> {
  const told = new Set<string>();
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: Awaited<ReturnType<HubClient['timeline']>> = await operator.timeline(id, { after });
    for (const assertion of page.assertions) told.add(assertion.id);
    after = page.next;
  }
  return told;
}

/**
 * Work is done again where a process was killed in it, and for no other reason: each task begins once,
 * goes on only as resumed, and nothing runs for one whose end was acknowledged.
 */
function effectsOf(
  effects: readonly Effect[],
  callers: readonly Caller[],
  ledger: Ledger,
): string[] {
  const wrong: string[] = [];
  const ended = new Map(of(ledger, 'ended').map((each) => [each.taskId, each.at]));
  const orders = new Map(
    callers.flatMap(({ sent }) => sent).map((each) => [each.taskId, each.order]),
  );
  const byTask = Map.groupBy(effects, ({ taskId }) => taskId);
  for (const [taskId, all] of byTask) {
    const runs = all.filter(({ kind }) => kind === 'run');
    const begun = runs.filter(({ resumed }) => resumed !== true);
    if (begun.length > 1) wrong.push(`task ${taskId}: began ${begun.length} times`);
    const until = ended.get(taskId);
    const late = all.filter(({ at }) => until !== undefined && at > until);
    if (late.length > 0) wrong.push(`task ${taskId}: ${late.length} things done after its end`);
    const order = orders.get(taskId);
    const steps = new Set(all.flatMap(({ step }) => step ?? []));
    const isDone = ledger.entries.some(
      (entry) => entry.kind === 'ended' && entry.taskId === taskId && entry.state === 'completed',
    );
    if (isDone && order !== undefined && steps.size !== order.steps) {
      wrong.push(`task ${taskId}: completed, with ${steps.size} of ${order.steps} steps done`);
    }
    // Each process that works on it does each step once.
    const twice = Map.groupBy(all, ({ pid, kind, step }) => `${pid} ${kind} ${step ?? ''}`);
    for (const [what, each] of twice) {
      if (each.length > 1)
        wrong.push(`task ${taskId}: one process did ${what} ${each.length} times`);
    }
  }
  return wrong;
}
