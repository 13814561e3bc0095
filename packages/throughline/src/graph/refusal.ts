import type { Assertion, Conflict, ObjectKind, Statement } from '../model/index.ts';
import { kindOf, type Graph } from './graph.ts';

/** Why an assertion is kept without being applied. */
export interface Refusal {
  readonly rule: Conflict['rule'];
  readonly message: string;
}

/** A statement with the assertion that carries it. */
export interface Said<S extends Statement['says']> {
  readonly assertion: Assertion;
  readonly statement: Extract<Statement, { says: S }>;
}

export function refuse(rule: Conflict['rule'], message: string): Refusal {
  return { rule, message };
}

/** For an id that should name something of that kind and does not. */
export function unknown(kind: string, id: string): Refusal {
  return refuse('unknown-object', `no ${kind} ${id} is known; say what it is first`);
}

/** Refuses an id for a new object that is taken or is not of its kind. */
export function refuseNew(graph: Graph, kind: ObjectKind, id: string): Refusal | undefined {
  if (kindOf(id) !== kind) return refuse('unknown-object', `${id} is not the id of a ${kind}`);
  if (graph.object(id) !== undefined) {
    return refuse('duplicate', `${id} is known already; make a new id for another ${kind}`);
  }
  return undefined;
}

/** The same object without the fields that are undefined, so that equal things compare equal. */
export function compact<T extends object>(value: T): T {
  const copy = { ...value };
  for (const key of Object.keys(copy)) {
    if (Reflect.get(copy, key) === undefined) Reflect.deleteProperty(copy, key);
  }
  return copy;
}
