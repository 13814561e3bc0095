import {
  finalTaskStates,
  taskSteps,
  type Assertion,
  type Basis,
  type Dialog,
  type Task,
  type TaskState,
} from '../model/index.ts';
import type { Graph } from './graph.ts';
import { compact, refuse, refuseNew, unknown, type Refusal, type Said } from './refusal.ts';
import { isInside } from './standing.ts';

const maxContested = 16;
const weight: Readonly<Record<Basis, number>> = { observed: 0, supervised: 1, reported: 2 };

export const isFinal = (state: TaskState): boolean => finalTaskStates.includes(state);

export function defineTask(
  graph: Graph,
  { assertion, statement }: Said<'task.defined'>,
): Refusal | undefined {
  const dialog = graph.dialog(statement.dialog);
  const refusal =
    refuseNew(graph, 'task', assertion.about) ??
    (dialog === undefined ? unknown('dialog', statement.dialog) : undefined);
  if (refusal !== undefined || dialog === undefined) return refusal;
  const value = compact<Task>({
    id: assertion.about,
    dialog: dialog.id,
    activity: dialog.activity,
    objective: statement.objective,
    state: 'defined',
  });
  graph.put({ kind: 'task', value });
  return undefined;
}

/** Inside one Dialog a protocol-local id names one Task; another one is attached by saying so. */
export function bindTask(
  graph: Graph,
  { assertion, statement }: Said<'task.bound'>,
): Refusal | undefined {
  const task = graph.task(assertion.about);
  if (task === undefined) return unknown('task', assertion.about);
  if (task.localId === statement.localId) return undefined;
  const other = graph.tasksOf(task.dialog).find((each) => each.localId === statement.localId);
  if (other !== undefined) {
    return refuse(
      'duplicate',
      `that protocol-local id already names ${other.id} in ${task.dialog}`,
    );
  }
  if (task.localId !== undefined && statement.rebind !== true) {
    return refuse(
      'needs-rebind',
      `${task.id} is bound to another protocol-local id; say that it is bound anew`,
    );
  }
  graph.put({ kind: 'task', value: { ...task, localId: statement.localId } });
  return undefined;
}

/** A request is a fact of its own and never a state: nothing else changes. */
export function requestCancel(
  graph: Graph,
  { assertion }: Said<'task.cancel-requested'>,
): Refusal | undefined {
  const task = graph.task(assertion.about);
  if (task === undefined) return unknown('task', assertion.about);
  if (task.cancelRequested !== true) {
    graph.put({ kind: 'task', value: { ...task, cancelRequested: true } });
  }
  return undefined;
}

export function doubtTask(
  graph: Graph,
  { assertion, statement }: Said<'task.unresolved'>,
): Refusal | undefined {
  const task = graph.task(assertion.about);
  if (task === undefined) return unknown('task', assertion.about);
  const unresolved = statement.resolved === true ? undefined : true;
  if (task.unresolved !== unresolved) {
    graph.put({ kind: 'task', value: compact<Task>({ ...task, unresolved }) });
  }
  return undefined;
}

/** One party's word about a Task's state. */
interface Word {
  readonly state: TaskState;
  readonly awaiting: Task['awaiting'];
  readonly outcome: Task['outcome'];
  readonly source: string;
  readonly basis: Basis;
  readonly seq: number;
}

/**
 * Moves a Task, or keeps the word of one whose say weighs less beside the state. The executor's word
 * weighs most; once it has spoken only it moves the state.
 */
export function moveTask(
  graph: Graph,
  { assertion, statement }: Said<'task.state'>,
): Refusal | undefined {
  const task = graph.task(assertion.about);
  if (task === undefined) return unknown('task', assertion.about);
  const dialog = graph.dialog(task.dialog);
  if (!mayTell(dialog, assertion)) {
    return refuse('unverified', `${assertion.source} is not in the dialog of ${task.id}`);
  }
  const word: Word = {
    state: statement.state,
    awaiting: statement.state === 'awaiting' ? statement.awaiting : undefined,
    outcome: statement.state === 'completed' ? statement.outcome : undefined,
    source: assertion.source,
    basis: basisOf(dialog, assertion.source, assertion.basis),
    seq: assertion.seq,
  };
  if (word.state === 'defined' && task.state !== 'defined') {
    return refuse('illegal-step', `a task does not go from ${task.state} back to defined`);
  }
  if (isOutweighed(task, word)) {
    const value = keepWord(task, word);
    if (value !== task) graph.put({ kind: 'task', value });
    return undefined;
  }
  if (sameState(task, word)) {
    if (task.stateBasis !== word.basis) graph.put({ kind: 'task', value: settle(task, word) });
    return undefined;
  }
  if (!mayGo(task, word)) {
    const rule = isFinal(task.state) ? 'final-state' : 'illegal-step';
    return refuse(rule, `a task does not go from ${task.state} to ${word.state}`);
  }
  graph.put({ kind: 'task', value: settle(task, word) });
  return undefined;
}

/** Only who is in a Dialog knows what goes on in it; a supervisor looks in from outside. */
function mayTell(dialog: Dialog | undefined, { source, basis }: Assertion): boolean {
  return source === 'hub' || basis === 'supervised' || isInside(dialog, source);
}

/** Reported is a word about one's own work; the one who asked for the work only sees it. */
function basisOf(dialog: Dialog | undefined, source: string, said: Basis): Basis {
  const asked = dialog?.invoker === source && dialog.participants.some((id) => id !== source);
  return said === 'reported' && asked ? 'observed' : said;
}

/**
 * Weaker than the word that the state rests on; between equals, the executor that spoke first holds.
 * A time-out contradicts nobody, so anyone may say it of a Task that is not over.
 */
function isOutweighed(task: Task, word: Word): boolean {
  if (task.stateBasis === undefined) return false;
  if (word.state === 'timed-out' && !isFinal(task.state)) return false;
  const difference = weight[word.basis] - weight[task.stateBasis];
  if (difference !== 0) return difference < 0;
  const sources = [task.stateSource, word.source];
  return word.basis === 'reported' && sources[0] !== sources[1] && !sources.includes('hub');
}

function sameState(task: Task, word: Word): boolean {
  return (
    task.state === word.state &&
    task.awaiting === word.awaiting &&
    (word.outcome === undefined || task.outcome === word.outcome)
  );
}

/** Final is final once the executor said it; whoever only watched is overruled, also by a supervisor. */
function mayGo(task: Task, word: Word): boolean {
  if (taskSteps[task.state].includes(word.state)) return true;
  return isFinal(task.state) && overrules(task, word);
}

function overrules(task: Task, word: Word): boolean {
  const { stateBasis } = task;
  return word.basis !== 'observed' && stateBasis !== undefined && stateBasis !== 'reported';
}

/** The Task in its new state. An observer's end that was overruled stays readable as its word. */
function settle(task: Task, word: Word): Task {
  const overruled = isFinal(task.state) && task.state !== word.state && overrules(task, word);
  // A time-out says that nobody heard anything: there is nothing in it to contest.
  const keeps = overruled && task.state !== 'timed-out' ? ownWord(task) : undefined;
  const others = [...(task.contested ?? []), ...(keeps === undefined ? [] : [keeps])]
    .filter((each) => each.source !== word.source && each.state !== word.state)
    .slice(-maxContested);
  return compact<Task>({
    ...task,
    state: word.state,
    awaiting: word.awaiting,
    outcome: word.outcome ?? (task.state === word.state ? task.outcome : undefined),
    stateBasis: word.basis,
    stateSource: word.source,
    stateSeq: word.seq,
    contested: others.length === 0 ? undefined : others,
  });
}

type StatementOfState = NonNullable<Task['contested']>[number];

function ownWord(task: Task): StatementOfState | undefined {
  const { state, stateBasis: basis, stateSource: source, stateSeq: seq } = task;
  if (basis === undefined || source === undefined || seq === undefined) return undefined;
  return { source, basis, state, seq };
}

/** Keeps the latest word of that source beside the state, or drops it when it now agrees. */
function keepWord(task: Task, word: Word): Task {
  const { source, basis, state, seq } = word;
  const others = (task.contested ?? []).filter((each) => each.source !== source);
  if (state !== task.state) others.push({ source, basis, state, seq });
  if (others.length === 0 && task.contested === undefined) return task;
  const contested = others.length === 0 ? undefined : others.slice(-maxContested);
  return compact<Task>({ ...task, contested });
}
