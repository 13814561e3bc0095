import type { Participant, Resource } from '../model/index.ts';
import { kindOf, type Graph } from './graph.ts';
import { compact, refuse, refuseNew, unknown, type Refusal, type Said } from './refusal.ts';

/** A Participant becomes known, or more of it does; what it is stays, save by its own word. */
export function knowParticipant(
  graph: Graph,
  { assertion, statement }: Said<'participant.known'>,
): Refusal | undefined {
  const id = assertion.about;
  const old = graph.participant(id);
  if (old === undefined) {
    const refusal = refuseNew(graph, 'participant', id);
    if (refusal !== undefined) return refusal;
  } else if (old.kind !== statement.kind && assertion.source !== id) {
    return refuse('duplicate', `${id} is a ${old.kind}, so it can't be a ${statement.kind} too`);
  }
  const value: Participant = compact({
    id,
    kind: statement.kind,
    name: statement.name ?? old?.name,
    url: statement.url ?? old?.url,
  });
  if (!sameFields(old, value)) graph.put({ kind: 'participant', value });
  return undefined;
}

/** A Resource becomes known, or more of it does; its Activity and its bytes stay what they are. */
export function knowResource(
  graph: Graph,
  { assertion, statement }: Said<'resource.known'>,
): Refusal | undefined {
  const id = assertion.about;
  const old = graph.resource(id);
  if (graph.activity(statement.activity) === undefined) {
    return unknown('activity', statement.activity);
  }
  if (old === undefined) {
    const refusal = refuseNew(graph, 'resource', id);
    if (refusal !== undefined) return refusal;
  } else if (old.activity !== statement.activity) {
    return refuse('other-activity', `${id} belongs to ${old.activity}, not ${statement.activity}`);
  } else if (differs(old.digest, statement.digest) || differs(old.size, statement.size)) {
    return refuse('duplicate', `${id} is known with other bytes; other bytes are another resource`);
  }
  const value: Resource = compact({
    id,
    activity: statement.activity,
    name: statement.name ?? old?.name,
    mediaType: statement.mediaType ?? old?.mediaType,
    size: statement.size ?? old?.size,
    digest: statement.digest ?? old?.digest,
    locator: statement.locator ?? old?.locator,
  });
  if (!sameFields(old, value)) graph.put({ kind: 'resource', value });
  return undefined;
}

/** Refuses ids that do not name a known Participant. */
export function refuseStrangers(graph: Graph, ids: readonly string[]): Refusal | undefined {
  const stranger = ids.find(
    (id) => kindOf(id) !== 'participant' || graph.participant(id) === undefined,
  );
  return stranger === undefined ? undefined : unknown('participant', stranger);
}

function differs<T>(a: T | undefined, b: T | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

function sameFields(a: object | undefined, b: object): boolean {
  if (a === undefined) return false;
  const keys = Object.keys(b);
  return (
    keys.length === Object.keys(a).length &&
    keys.every((key) => Reflect.get(a, key) === Reflect.get(b, key))
  );
}
