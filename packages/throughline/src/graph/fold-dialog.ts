import {
  dialogSteps,
  maxLabels,
  type Activity,
  type Dialog,
  type LocalContext,
} from '../model/index.ts';
import { refuseStrangers } from './fold-known.ts';
import type { Graph } from './graph.ts';
import { compact, refuse, refuseNew, unknown, type Refusal, type Said } from './refusal.ts';

const maxLocal = 16;
const maxParticipants = 64;

export function openActivity(
  graph: Graph,
  { assertion, statement }: Said<'activity.opened'>,
): Refusal | undefined {
  const { initiator, objective } = statement;
  const refusal =
    refuseNew(graph, 'activity', assertion.about) ??
    refuseStrangers(graph, initiator === undefined ? [] : [initiator]) ??
    refuseTool(graph, initiator);
  if (refusal !== undefined) return refusal;
  const value = compact<Activity>({ id: assertion.about, initiator, objective, closed: false });
  graph.put({ kind: 'activity', value });
  return undefined;
}

/** Closing an Activity ends nothing in it. */
export function closeActivity(
  graph: Graph,
  { assertion }: Said<'activity.closed'>,
): Refusal | undefined {
  const activity = graph.activity(assertion.about);
  if (activity === undefined) return unknown('activity', assertion.about);
  if (!activity.closed) graph.put({ kind: 'activity', value: { ...activity, closed: true } });
  return undefined;
}

export function reopenActivity(
  graph: Graph,
  { assertion }: Said<'activity.reopened'>,
): Refusal | undefined {
  const activity = graph.activity(assertion.about);
  if (activity === undefined) return unknown('activity', assertion.about);
  if (activity.closed) graph.put({ kind: 'activity', value: { ...activity, closed: false } });
  return undefined;
}

/** A label has one value; saying it without one takes it off. */
export function labelActivity(
  graph: Graph,
  { assertion, statement }: Said<'activity.labelled'>,
): Refusal | undefined {
  const activity = graph.activity(assertion.about);
  if (activity === undefined) return unknown('activity', assertion.about);
  const { name, value } = statement.label;
  const { [name]: before, ...others } = activity.labels ?? {};
  if (before === value) return undefined;
  const labels = value === undefined ? others : { ...others, [name]: value };
  const count = Object.keys(labels).length;
  if (count > maxLabels) {
    return refuse('illegal-step', `${activity.id} has ${maxLabels} labels, the most`);
  }
  const next = { ...activity, labels: count === 0 ? undefined : labels };
  graph.put({ kind: 'activity', value: compact<Activity>(next) });
  return undefined;
}

/** What people wrote is gone for good, so nothing takes this back. */
export function eraseActivity(
  graph: Graph,
  { assertion }: Said<'activity.erased'>,
): Refusal | undefined {
  const activity = graph.activity(assertion.about);
  if (activity === undefined) return unknown('activity', assertion.about);
  if (activity.erased !== true) {
    graph.put({ kind: 'activity', value: { ...activity, closed: true, erased: true } });
  }
  return undefined;
}

export function openDialog(
  graph: Graph,
  { assertion, statement }: Said<'dialog.opened'>,
): Refusal | undefined {
  const activity = graph.activity(statement.activity);
  const participants = [...new Set(statement.participants)];
  const invoker = statement.participants.length > 1 ? participants[0] : undefined;
  const refusal =
    refuseNew(graph, 'dialog', assertion.about) ??
    (activity === undefined ? unknown('activity', statement.activity) : undefined) ??
    refuseStrangers(graph, participants) ??
    refuseTool(graph, invoker);
  if (refusal !== undefined || activity === undefined) return refusal;
  const value = compact<Dialog>({
    id: assertion.about,
    activity: activity.id,
    participants,
    invoker,
    objective: statement.objective,
    managed: statement.managed,
    state: 'initiating',
    local: [],
  });
  graph.put({ kind: 'dialog', value });
  if (activity.initialDialog === undefined) nameInitial(graph, activity, value);
  return undefined;
}

/** The first Dialog of an Activity is its initial one; with the AIE in it, the other is the FNE. */
function nameInitial(graph: Graph, activity: Activity, dialog: Dialog): void {
  const { initiator } = activity;
  const knowsRoot = initiator !== undefined && dialog.participants.includes(initiator);
  const firstNext = knowsRoot ? dialog.participants.find((id) => id !== initiator) : undefined;
  const value = compact<Activity>({ ...activity, initialDialog: dialog.id, firstNext });
  graph.put({ kind: 'activity', value });
}

/** A signalled end is final; one that was only inferred gives way to whatever is said later. */
export function moveDialog(
  graph: Graph,
  { assertion, statement }: Said<'dialog.state'>,
): Refusal | undefined {
  const dialog = graph.dialog(assertion.about);
  if (dialog === undefined) return unknown('dialog', assertion.about);
  const ends = statement.state === 'terminated';
  const next = {
    state: statement.state,
    reason: ends ? statement.reason : undefined,
    endInferred: ends && statement.inferred === true ? true : undefined,
  };
  const over = dialog.state === 'terminated' && dialog.endInferred !== true;
  const sameReason = next.reason === undefined || next.reason === dialog.reason;
  if (over && ends && sameReason) return undefined;
  if (over) {
    return refuse('final-state', `${dialog.id} was ended; open a new dialog that continues it`);
  }
  if (dialog.state === next.state && !ends) return undefined;
  const steps = dialogSteps[dialog.state];
  if (dialog.endInferred !== true && !steps.includes(next.state)) {
    return refuse('illegal-step', `a dialog does not go from ${dialog.state} to ${next.state}`);
  }
  if (dialog.endInferred === true && next.state === 'initiating') {
    return refuse('illegal-step', 'a dialog that had begun does not go back to initiating');
  }
  graph.put({ kind: 'dialog', value: compact<Dialog>({ ...dialog, ...next }) });
  return undefined;
}

/**
 * Attaches a protocol-local id: the newest comes first, earlier ones stay. One that was never heard of
 * takes the place of another only where that is said: whoever names a Dialog does not thereby move it.
 */
export function bindDialog(
  graph: Graph,
  { assertion, statement }: Said<'dialog.bound'>,
): Refusal | undefined {
  const dialog = graph.dialog(assertion.about);
  if (dialog === undefined) return unknown('dialog', assertion.about);
  const newest = compact(statement.local);
  const [first] = dialog.local;
  if (first !== undefined && sameLocal(first, newest)) return undefined;
  const isKnown = dialog.local.some(
    ({ protocol, localId }) => protocol === newest.protocol && localId === newest.localId,
  );
  if (first !== undefined && !isKnown && statement.rebind !== true) {
    return refuse(
      'needs-rebind',
      `${dialog.id} is bound to another protocol-local id; say that it is bound anew`,
    );
  }
  const earlier = dialog.local.filter((local) => !sameLocal(local, newest));
  const local = [newest, ...earlier].slice(0, maxLocal);
  graph.put({ kind: 'dialog', value: { ...dialog, local } });
  return undefined;
}

export function joinDialog(
  graph: Graph,
  { assertion, statement }: Said<'dialog.joined'>,
): Refusal | undefined {
  const dialog = graph.dialog(assertion.about);
  if (dialog === undefined) return unknown('dialog', assertion.about);
  const refusal = refuseStrangers(graph, [statement.participant]);
  if (refusal !== undefined) return refusal;
  if (dialog.participants.includes(statement.participant)) return undefined;
  if (dialog.participants.length >= maxParticipants) {
    return refuse('illegal-step', `${dialog.id} has ${maxParticipants} participants, the most`);
  }
  const participants = [...dialog.participants, statement.participant];
  graph.put({ kind: 'dialog', value: { ...dialog, participants } });
  return undefined;
}

export function leaveDialog(
  graph: Graph,
  { assertion, statement }: Said<'dialog.left'>,
): Refusal | undefined {
  const dialog = graph.dialog(assertion.about);
  if (dialog === undefined) return unknown('dialog', assertion.about);
  const participants = dialog.participants.filter((id) => id !== statement.participant);
  if (participants.length === dialog.participants.length) return undefined;
  if (participants.length === 0) {
    return refuse(
      'illegal-step',
      `the last participant of ${dialog.id} can't leave; end the dialog`,
    );
  }
  graph.put({ kind: 'dialog', value: { ...dialog, participants } });
  return undefined;
}

/** Tools invoke nobody: they open no Dialog and start no Activity. */
export function refuseTool(graph: Graph, invoker: string | undefined): Refusal | undefined {
  if (invoker === undefined || graph.participant(invoker)?.kind !== 'tool') return undefined;
  return refuse('tool-invokes', `${invoker} is a tool, and tools invoke nobody`);
}

function sameLocal(a: LocalContext, b: LocalContext): boolean {
  return a.protocol === b.protocol && a.localId === b.localId && a.endpoint === b.endpoint;
}
