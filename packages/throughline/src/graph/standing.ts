import { ruleOf, type Dialog } from '../model/index.ts';
import type { Graph } from './graph.ts';

/** Whether a Participant is in a Dialog; whoever opened it stays so. */
export function isInside(dialog: Dialog | undefined, participant: string): boolean {
  return dialog?.invoker === participant || dialog?.participants.includes(participant) === true;
}

/**
 * Whether a Participant has a say about an object: about Dialogs that it is in with their Tasks, about
 * Resources that are used or made there, about the Activity that it began, and about itself. Taking
 * part in an Activity alone gives none about what others do in it.
 */
export function hasSay(graph: Graph, participant: string, id: string): boolean {
  const object = graph.object(id);
  if (object === undefined) return false;
  switch (object.kind) {
    case 'dialog':
      return isInside(object.value, participant);
    case 'task':
      return isInside(graph.dialog(object.value.dialog), participant);
    case 'resource':
      return graph
        .out(id)
        .some(({ to }) => graph.resource(to) === undefined && hasSay(graph, participant, to));
    case 'activity':
      return object.value.initiator === participant;
    case 'participant':
      return id === participant;
    default:
      return object satisfies never;
  }
}

/**
 * Whether a Participant may say that two things hang together: it needs a say about the end that this
 * changes, which is the first unless that is in no Dialog, and about both where lineage is told.
 * `owns`: what it has a say about besides, such as Resources that it made known.
 */
export function mayRelate(
  graph: Graph,
  participant: string,
  { type, from, to }: { type: string; from: string; to: string },
  owns: (id: string) => boolean = () => false,
): boolean {
  const says = (id: string): boolean => owns(id) || hasSay(graph, participant, id);
  const kind = (id: string) => graph.object(id)?.kind;
  const isDone = ['dialog', 'task'].includes(kind(from) ?? '');
  const changes = ['dialog', 'task', 'resource'].includes(kind(to) ?? '');
  return says(from) && (says(to) || (!ruleOf(type).acyclic && (isDone || !changes)));
}

/** A Resource that nothing was said to use or make yet: free to be named by whoever knows its id. */
export const isUnused = (graph: Graph, id: string): boolean =>
  graph.resource(id) !== undefined && graph.out(id).length === 0;
