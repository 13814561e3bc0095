import type { Dialog, Task } from '../model/index.ts';
import { isFinal } from './fold-task.ts';
import type { Notes } from './interpret-notes.ts';

/** Where an observation belongs. */
export interface Place {
  readonly activity: string;
  readonly dialog: string;
  /** The Dialog as it stands; absent for one that this observation opens. */
  readonly known?: Dialog;
}

/** Finds the Dialog that an observation means, or opens one, and keeps it up to date. */
export function placeOf(notes: Notes, objective?: string): Place {
  const known = dialogOf(notes);
  if (known === undefined) {
    claim(notes);
    return openActivity(notes, objective);
  }
  if (isOver(known) && notes.seen.kind === 'message' && knownTask(notes, known) === undefined) {
    return continueDialog(notes, known, objective);
  }
  bind(notes, known);
  if (notes.seen.side === 'server') {
    for (const participant of [party(notes, 'client'), party(notes, 'server')]) {
      if (!known.participants.includes(participant)) {
        notes.say(known.id, { says: 'dialog.joined', participant });
      }
    }
  }
  return { activity: known.activity, dialog: known.id, known };
}

/**
 * The Dialog that an observation means, as far as it is known. The context's own comes first. One that
 * an envelope names counts from whoever opened it while it has no protocol-local id, or when that is
 * the one it has, or when it is bound anew.
 */
export function dialogOf({ graph, resolved, seen }: Notes): Dialog | undefined {
  const own = graph.dialog(resolved.dialog ?? '');
  const named = graph.dialog(resolved.envelope?.dialog ?? '');
  if (own !== undefined || named === undefined) return own;
  const opener = named.invoker ?? resolved.client;
  const isFree = named.local.length === 0 && opener === resolved.client;
  return isFree || isBound(named, seen) || rebinds(resolved, named.id) ? named : undefined;
}

/** The Task that an observation means, as far as it is known. */
export function knownTask({ graph, seen, resolved }: Notes, dialog: Dialog): Task | undefined {
  if (seen.taskId === undefined) return undefined;
  const named = graph.task(resolved.task ?? '');
  if (named?.dialog === dialog.id) return named;
  return graph.tasksOf(dialog.id).find((task) => task.localId === seen.taskId);
}

/**
 * Something happened in a Dialog. An answer makes it active; any sign of life withdraws an end that
 * was only inferred.
 */
export function enliven(notes: Notes, { dialog, known }: Place, sign: 'request' | 'answer'): void {
  const begins = sign === 'answer' && (known === undefined || known.state === 'initiating');
  const returns = known?.state === 'terminated' && known.endInferred === true;
  if (begins || returns) notes.say(dialog, { says: 'dialog.state', state: 'active' });
}

/** The Task of an observation: the known one, the one that the envelope names, or a new one. */
export function taskOf(
  notes: Notes,
  place: Place,
  localId: string,
  objective?: string,
): { readonly id: string; readonly known?: Task } {
  const known = place.known && knownTask(notes, place.known);
  if (known !== undefined) {
    if (known.localId === undefined) notes.say(known.id, { says: 'task.bound', localId });
    return { id: known.id, known };
  }
  const named = notes.graph.task(notes.resolved.envelope?.task ?? '');
  const rebind = named !== undefined && rebinds(notes.resolved, named.id) && !isFinal(named.state);
  if (named?.dialog === place.dialog && (named.localId === undefined || rebind)) {
    const anew = named.localId === undefined ? {} : { rebind };
    notes.say(named.id, { says: 'task.bound', localId, ...anew });
    return { id: named.id, known: named };
  }
  const id = notes.makeId('task');
  notes.say(id, {
    says: 'task.defined',
    dialog: place.dialog,
    objective,
  });
  notes.say(id, { says: 'task.bound', localId });
  return { id };
}

function isOver(dialog: Dialog): boolean {
  return dialog.state === 'terminated' && dialog.endInferred !== true;
}

function openActivity(notes: Notes, objective?: string): Place {
  const initiator = party(notes, 'client');
  const server = party(notes, 'server');
  const activity = notes.makeId('activity');
  notes.say(activity, {
    says: 'activity.opened',
    initiator,
    objective,
  });
  const managed = notes.seen.side === 'server' ? 'ours' : 'none';
  const participants = [initiator, server];
  const dialog = openDialog(notes, { activity, participants, managed, objective });
  return { activity, dialog };
}

/** What was ended stays so: a later message goes on in a new Dialog. */
function continueDialog(notes: Notes, ended: Dialog, objective?: string): Place {
  const participants = [party(notes, 'client'), party(notes, 'server')];
  const { activity, managed } = ended;
  const dialog = openDialog(notes, { activity, participants, managed, objective });
  notes.relate('continuation-of', dialog, ended.id);
  return { activity, dialog };
}

function openDialog(
  notes: Notes,
  opening: Pick<Dialog, 'activity' | 'participants' | 'managed' | 'objective'>,
): string {
  const id = notes.makeId('dialog');
  const { protocol, contextId, endpoint } = notes.seen;
  notes.say(id, { says: 'dialog.opened', ...opening });
  notes.say(id, { says: 'dialog.bound', local: { protocol, localId: contextId, endpoint } });
  return id;
}

function bind(notes: Notes, dialog: Dialog): void {
  if (isBound(dialog, notes.seen)) return;
  const { protocol, contextId, endpoint } = notes.seen;
  const anew = dialog.local.length === 0 ? {} : { rebind: true };
  notes.say(dialog.id, {
    says: 'dialog.bound',
    local: { protocol, localId: contextId, endpoint },
    ...anew,
  });
}

/** A context that claims a Dialog bound to another one: told as it came, so that it is kept as a conflict. */
function claim(notes: Notes): void {
  const { graph, seen, resolved } = notes;
  const named = graph.dialog(resolved.envelope?.dialog ?? '');
  if (named === undefined || named.local.length === 0 || seen.kind !== 'message') return;
  const { protocol, contextId: localId, endpoint } = seen;
  notes.say(named.id, { says: 'dialog.bound', local: { protocol, localId, endpoint } });
}

const isBound = ({ local }: Dialog, { protocol, contextId }: Notes['seen']): boolean =>
  local.some((each) => each.protocol === protocol && each.localId === contextId);

const rebinds = ({ envelope }: Notes['resolved'], id: string): boolean =>
  envelope?.rebinds?.includes(id) === true;

/** The Participant's id; what is not known of it yet is said. */
function party(notes: Notes, who: 'client' | 'server'): string {
  const { kind, name, url } = notes.seen[who];
  const id = notes.resolved[who] ?? notes.makeId('participant');
  const old = notes.graph.participant(id);
  const news =
    old === undefined ||
    (old.kind === kind &&
      ((name !== undefined && old.name === undefined) ||
        (url !== undefined && old.url === undefined)));
  if (news) {
    notes.say(id, {
      says: 'participant.known',
      kind,
      name: old?.name ?? name,
      url: old?.url ?? url,
    });
  }
  return id;
}
