/** What came of one run: what must be as in a run that nobody disturbed, and what must not be at all. */
import type { HubClient } from 'throughline/client';
import { createMaster, type RunReport } from 'throughline/master';
import type { CaseView } from 'throughline/model';
import type { Check, Seen } from '../../examples/world/story.ts';
import type { Given } from '../../examples/world/world.ts';
import { doubledIn, isFinal, openIn, redoneIn, repeatedIn, type Faults } from './faults.ts';
import type { Note } from './notes.ts';

export interface Outcome {
  /** The same in each run, however it was disturbed. */
  readonly same: Readonly<Record<string, unknown>>;
  readonly faults: Faults;
  /** Messages that went out once more to an agent that knows nothing of us, as the rules say. */
  readonly anew: number;
}

export interface Ground {
  readonly operator: HubClient;
  /** With the key of the Master whose run it is. */
  readonly master: HubClient;
  readonly runId: string;
  readonly contextId: string;
  readonly notes: readonly Note[];
  readonly given: readonly (Given & { readonly taskId: string })[];
  readonly checks: (seen: Seen & { readonly view: CaseView }) => Promise<readonly Check[]>;
}

export async function outcomeOf(ground: Ground): Promise<Outcome> {
  const { operator, master, runId, contextId } = ground;
  const asMaster = createMaster({
    ports: master.master(),
    a2a: master,
    principal: await master.whoAmI(),
    name: 'Looks on',
    agents: [],
  });
  const report = await asMaster.status(runId);
  const view = await operator.caseView(contextId);
  const texts = await textsOf(report, master);
  const local = new Map(view.tasks.map(({ id, localId = '' }) => [localId, id]));
  const notes = ground.notes.filter(({ taskId }) => local.has(taskId));
  const checks = await ground.checks({
    report,
    view,
    output: (name) => {
      const text = texts.get(name);
      return text === undefined ? Promise.reject(new Error(`no ${name}`)) : Promise.resolve(text);
    },
    given: ground.given.filter(({ taskId }) => local.has(taskId)),
    steps: stepsOf(report, notes, local),
  });
  const ends = await endsIn(operator, contextId);
  const { doubled, anew } = doubledIn(report, view);
  const open = openIn(report, view);
  for (const id of await asMaster.openRuns()) open.push(`run ${id} is not done`);
  if (view.summary.stuck > 0) open.push(`${view.summary.stuck} tasks are stuck`);
  return {
    same: {
      status: report.status,
      subtasks: report.subtasks.map((subtask) => subtaskOf(subtask)),
      texts: Object.fromEntries([...texts].map(([name, text]) => [name, withoutIds(text)])),
      usage: [report.usage.inputTokens, report.usage.outputTokens],
      ...countsOf(view, anew),
    },
    faults: {
      repeated: [
        ...repeatedIn(report.subtasks),
        ...redoneIn(notes, (taskId) => ends.get(local.get(taskId) ?? '')),
      ],
      doubled,
      open,
      different: [
        ...checks.filter(({ ok }) => !ok).map(({ name, saw }) => `${name}: ${shortly(saw)}`),
        ...view.conflicts.map(({ rule, message }) => `conflict ${rule}: ${message}`),
      ],
    },
    anew,
  };
}

/** In what a run came out otherwise than one that nobody disturbed. */
export const differences = (undisturbed: Outcome, outcome: Outcome): string[] =>
  Object.entries(outcome.same).flatMap(([what, value]) => {
    const [is, was] = [JSON.stringify(value), JSON.stringify(undisturbed.same[what])];
    return is === was ? [] : [`${what}: is ${shortly(value)}, was ${was?.slice(0, 400)}`];
  });

const shortly = (value: unknown): string => JSON.stringify(value)?.slice(0, 400) ?? '';

/** Ids are others each time. */
const withoutIds = (text: string): string =>
  text.replaceAll(/\b([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}\b/g, '$1');

async function textsOf({ subtasks }: RunReport, master: HubClient): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const { name, ref } of subtasks.flatMap(({ outputs }) => outputs)) {
    const { bytes } = await master.master().getContent(ref.uri);
    texts.set(name, new TextDecoder().decode(bytes));
  }
  return texts;
}

const subtaskOf = (subtask: RunReport['subtasks'][number]): unknown => ({
  id: subtask.id,
  status: subtask.status,
  attempts: subtask.attempts.map(({ agent, outcome }) => `${agent} ${outcome ?? 'is at work'}`),
  told: subtask.keyInformation.map(({ outputabstract }) => outputabstract),
  criteria: subtask.verdict?.criteria?.map(({ id, ok }) => `${id} ${ok ? 'ok' : 'not ok'}`),
  withheld: subtask.withheld.toSorted(),
});

/** A message that came twice to an agent that does not know it again is two tasks there, with their edges. */
function countsOf({ summary: { counts }, ...view }: CaseView, anew: number) {
  const { tasks, relationships, ...others } = counts;
  const whole = { ...others, participants: view.participants.length };
  return anew > 0 ? whole : { ...whole, tasks, relationships };
}

/** `begins find`, `ends find`: from when an agent first began to when it last ended. */
function stepsOf(
  { subtasks }: RunReport,
  notes: readonly Note[],
  local: ReadonlyMap<string, string>,
): string[] {
  const nameOf = new Map(
    subtasks.flatMap(({ id, attempts }) => attempts.map(({ task }) => [task, id] as const)),
  );
  const steps = [...Map.groupBy(notes, ({ taskId }) => taskId)].flatMap(([taskId, own]) => {
    const name = nameOf.get(local.get(taskId) ?? '') ?? taskId;
    const first = own.find(({ kind }) => kind === 'begins');
    const last = own.findLast(({ kind }) => kind === 'ends');
    return [
      ...(first ? [{ at: first.at, step: `begins ${name}` }] : []),
      ...(last ? [{ at: last.at, step: `ends ${name}` }] : []),
    ];
  });
  return steps.toSorted((a, b) => a.at - b.at).map(({ step }) => step);
}

/** When each task of a case was over, in milliseconds since the epoch. */
async function endsIn(operator: HubClient, contextId: string): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: Awaited<ReturnType<HubClient['timeline']>> = await operator.timeline(contextId, {
      after,
    });
    for (const { about, statement, recordedAt } of page.assertions) {
      if (statement.says !== 'task.state' || !isFinal(statement.state)) continue;
      if (!ends.has(about)) ends.set(about, Date.parse(recordedAt));
    }
    after = page.next;
  }
  return ends;
}

/** An outcome with more that was seen of it. */
export const also = (outcome: Outcome, more: Partial<Outcome['faults']>): Outcome => ({
  ...outcome,
  faults: {
    repeated: [...outcome.faults.repeated, ...(more.repeated ?? [])],
    doubled: [...outcome.faults.doubled, ...(more.doubled ?? [])],
    open: [...outcome.faults.open, ...(more.open ?? [])],
    different: [...outcome.faults.different, ...(more.different ?? [])],
  },
});
