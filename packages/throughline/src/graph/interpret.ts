import type { DraftInput, Observation, Task } from '../model/index.ts';
import { isFinal } from './fold-task.ts';
import { Notes, type MakeId, type Resolved } from './interpret-notes.ts';
import { dialogOf, enliven, knownTask, placeOf, taskOf, type Place } from './interpret-place.ts';
import { takeInputs, takeOutput } from './interpret-resources.ts';
import { isUnused, mayRelate } from './standing.ts';

export type { MakeId, Resolved } from './interpret-notes.ts';

type Seen<K extends Observation['kind']> = Notes<Extract<Observation, { kind: K }>>;

/**
 * What an observation means, as statements in the order in which they are to be folded. Only what the
 * graph does not hold yet is said, so the same observation again says nothing.
 */
export function interpret(
  observation: Observation,
  resolved: Resolved,
  makeId: MakeId,
): DraftInput[] {
  switch (observation.kind) {
    case 'message':
      return readMessage(new Notes(observation, resolved, makeId));
    case 'task':
      return readTask(new Notes(observation, resolved, makeId));
    case 'artifact':
      return readArtifact(new Notes(observation, resolved, makeId));
    case 'cancel-request':
      return readCancelRequest(new Notes(observation, resolved, makeId));
    default:
      return observation satisfies never;
  }
}

function readMessage(notes: Seen<'message'>): DraftInput[] {
  const { taskId, objective, resources } = notes.seen;
  const place = placeOf(notes, objective);
  enliven(notes, place, 'request');
  const task = taskId === undefined ? undefined : taskOf(notes, place, taskId, objective);
  const target = task?.id ?? place.dialog;
  for (const reference of notes.resolved.references ?? []) {
    notes.relate('related-to', target, reference);
  }
  if (!isReportedByServer(notes, task?.known)) takeInputs(notes, place, target, resources);
  readRelationships(notes, place);
  return notes.drafts;
}

function readTask(notes: Seen<'task'>): DraftInput[] {
  const { taskId, objective, state } = notes.seen;
  const place = placeOf(notes, objective);
  const onlyLate = place.known?.state === 'terminated' && isFinal(state);
  if (!onlyLate) enliven(notes, place, 'answer');
  const task = taskOf(notes, place, taskId, objective);
  tellState(notes, task.id, task.known);
  readRelationships(notes, place);
  return notes.drafts;
}

function readArtifact(notes: Seen<'artifact'>): DraftInput[] {
  const place = placeOf(notes);
  enliven(notes, place, 'answer');
  const task = taskOf(notes, place, notes.seen.taskId);
  if (!isReportedByServer(notes, task.known)) {
    takeOutput(notes, place, task.id, notes.seen.resource);
  }
  readRelationships(notes, place);
  return notes.drafts;
}

/** A request is no state, and one about a Task that nobody knows says nothing. */
function readCancelRequest(notes: Seen<'cancel-request'>): DraftInput[] {
  const dialog = dialogOf(notes);
  const task = dialog && knownTask(notes, dialog);
  if (task !== undefined && task.cancelRequested !== true) {
    notes.say(task.id, { says: 'task.cancel-requested' });
  }
  return notes.drafts;
}

/** The server's own hub tells about this Task; what its client sees of it adds nothing. */
function isReportedByServer({ seen }: Notes, task: Task | undefined): boolean {
  return seen.side === 'client' && task?.stateBasis === 'reported';
}

function tellState(notes: Seen<'task'>, id: string, task: Task | undefined): void {
  const { state, awaiting, outcome } = notes.seen;
  if (state === 'defined') return;
  if (task?.unresolved === true && notes.basis === 'reported') {
    notes.say(id, { says: 'task.unresolved', resolved: true });
  }
  if (task !== undefined && !isNews(notes, task)) return;
  notes.say(id, {
    says: 'task.state',
    state,
    awaiting,
    outcome,
  });
}

function isNews({ seen, basis }: Seen<'task'>, task: Task): boolean {
  const same =
    seen.state === task.state &&
    seen.awaiting === task.awaiting &&
    (seen.outcome === undefined || seen.outcome === task.outcome);
  if (task.stateBasis !== 'reported') return !same || basis === 'reported';
  if (basis === 'reported') return !same;
  // Beside the server's word only another end is worth telling: the rest is the same, seen late.
  const told = task.contested?.some((word) => word.basis === basis && word.state === seen.state);
  return seen.state !== task.state && isFinal(seen.state) && told !== true;
}

/** Relationships count from a sender with a say about what they change, within one Activity. */
function readRelationships(notes: Notes, place: Place): void {
  const { envelope, client } = notes.resolved;
  const { graph } = notes;
  if (envelope === undefined || client === undefined) return;
  for (const { type, from, to, role } of notes.seen.envelope?.relationships ?? []) {
    const inside = [from, to].every((id) => notes.graph.activityOf(id) === place.activity);
    if (type === undefined || !inside) continue;
    if (!mayRelate(graph, client, { type, from, to }, (id) => isUnused(graph, id))) continue;
    notes.relate(type, from, to, role);
  }
}
