import { ThroughlineError, type Assertion, type Conflict } from '../model/index.ts';
import {
  bindDialog,
  closeActivity,
  eraseActivity,
  joinDialog,
  labelActivity,
  leaveDialog,
  moveDialog,
  openActivity,
  openDialog,
  reopenActivity,
} from './fold-dialog.ts';
import { knowParticipant, knowResource } from './fold-known.ts';
import { relate, revoke } from './fold-relationship.ts';
import { bindTask, defineTask, doubtTask, moveTask, requestCancel } from './fold-task.ts';
import { Graph } from './graph.ts';
import type { Refusal } from './refusal.ts';

export type Applied =
  | { readonly applied: true }
  | { readonly applied: false; readonly conflict: Conflict };

/**
 * Folds one numbered assertion into the graph. One that would break a rule changes nothing and is
 * kept as a conflict. Assertions of one graph must come in the order of their numbers.
 *
 * The graph must hold what the rules look at: the objects named, the Dialog and Activity they are in,
 * the Tasks of that Dialog, and for a lineage relationship everything above its target or all that
 * comes from its source.
 */
export function apply(graph: Graph, assertion: Assertion): Applied {
  const refusal = fold(graph, assertion);
  if (refusal === undefined) return { applied: true };
  const { id, seq, about } = assertion;
  const conflict: Conflict = { assertion: id, seq, about, ...refusal };
  graph.conflicts.push(conflict);
  return { applied: false, conflict };
}

/**
 * The graph of these assertions, however they arrive: what counts is the number that each has, and
 * one that arrives twice counts once. Throws `damaged` when two share a number.
 */
export function foldAll(assertions: Iterable<Assertion>): Graph {
  const graph = new Graph();
  let last: Assertion | undefined;
  for (const assertion of [...assertions].toSorted((a, b) => a.seq - b.seq)) {
    if (assertion.seq === last?.seq) {
      if (assertion.id === last.id) continue;
      throw new ThroughlineError(
        'damaged',
        `number ${assertion.seq} stands on two assertions, ${last.id} and ${assertion.id}; the log is not one domain's`,
      );
    }
    apply(graph, assertion);
    last = assertion;
  }
  return graph;
}

function fold(graph: Graph, assertion: Assertion): Refusal | undefined {
  const { statement } = assertion;
  switch (statement.says) {
    case 'participant.known':
      return knowParticipant(graph, { assertion, statement });
    case 'activity.opened':
      return openActivity(graph, { assertion, statement });
    case 'activity.closed':
      return closeActivity(graph, { assertion, statement });
    case 'activity.reopened':
      return reopenActivity(graph, { assertion, statement });
    case 'activity.labelled':
      return labelActivity(graph, { assertion, statement });
    case 'activity.erased':
      return eraseActivity(graph, { assertion, statement });
    case 'dialog.opened':
      return openDialog(graph, { assertion, statement });
    case 'dialog.state':
      return moveDialog(graph, { assertion, statement });
    case 'dialog.bound':
      return bindDialog(graph, { assertion, statement });
    case 'dialog.joined':
      return joinDialog(graph, { assertion, statement });
    case 'dialog.left':
      return leaveDialog(graph, { assertion, statement });
    case 'task.defined':
      return defineTask(graph, { assertion, statement });
    case 'task.bound':
      return bindTask(graph, { assertion, statement });
    case 'task.state':
      return moveTask(graph, { assertion, statement });
    case 'task.cancel-requested':
      return requestCancel(graph, { assertion, statement });
    case 'task.unresolved':
      return doubtTask(graph, { assertion, statement });
    case 'resource.known':
      return knowResource(graph, { assertion, statement });
    case 'relationship.asserted':
      return relate(graph, { assertion, statement });
    case 'relationship.revoked':
      return revoke(graph, { assertion, statement });
    default:
      return statement satisfies never;
  }
}
