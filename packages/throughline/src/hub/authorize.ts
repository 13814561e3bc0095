import type { ThroughlineError } from '../errors.ts';
import { grantOperations, type GrantOperation, type Principal } from '../model/index.ts';

/** How a principal can stand to an object. */
export const relations = [
  'owner',
  'grantee',
  'agent',
  'operator',
  'participant',
  'invoker',
  'keeper',
] as const;
export type Relation = (typeof relations)[number];

/**
 * Who may do what. `grantee` counts only for operations that its grant names. A relation that a row
 * does not name gives nothing; whoever stands in none is told that the object does not exist.
 */
export const rights = {
  /** Read a task, a case, its timeline and explanations. */
  get: ['owner', 'grantee', 'agent', 'operator'],
  list: ['owner', 'grantee', 'agent', 'operator'],
  send: ['owner', 'grantee'],
  cancel: ['owner', 'grantee', 'operator'],
  subscribe: ['owner', 'grantee', 'agent', 'operator'],
  push: ['owner', 'grantee'],
  /** Write a task's record; offload its output. */
  execute: ['agent'],
  /** Give, list and revoke grants on a context. */
  grant: ['owner', 'operator'],
  /** Close, reopen, label, merge, split, correct and erase a case. */
  manage: ['owner', 'operator'],
  /** State something about objects of an Activity, offload content into it. */
  assert: ['participant'],
  /** Account for a hand-over: only whoever handed over. */
  account: ['invoker'],
  /** Read the texts of a hand-over, which hold what others were not to see. */
  texts: ['invoker', 'operator'],
  /** Read what one keeps oneself: content put, a run's state. */
  keep: ['keeper'],
  /** Keys and quotas of the tenant. */
  administer: ['operator'],
} as const satisfies Record<string, readonly Relation[]>;

export type Action = keyof typeof rights;

/** What is known of an object when rights to it are asked for. Ids are principal ids. */
export interface Guarded {
  readonly tenant: string;
  /** Principal whose message opened the context, or who made the task. */
  readonly owner?: string | undefined;
  /** Several may own: who made a task, and whose case it is in. */
  readonly caseOwner?: string | undefined;
  /** Agent that executes it. */
  readonly agent?: string | undefined;
  readonly keeper?: string | undefined;
  /** The principal's Participant takes part in the object's Activity. */
  readonly takesPart?: boolean;
  /** The principal's Participant opened the Dialog that the object is in. */
  readonly invokes?: boolean;
  /** Operations that grants to this principal cover on this object now. */
  readonly granted?: readonly GrantOperation[];
}

const isOperation = (action: string): action is GrantOperation =>
  grantOperations.some((operation) => operation === action);

const holds: Readonly<Record<Relation, (p: Principal, o: Guarded, action: Action) => boolean>> = {
  owner: (p, o) => o.owner === p.id || o.caseOwner === p.id,
  grantee: (_, o, action) => isOperation(action) && (o.granted ?? []).includes(action),
  agent: (p, o) => o.agent === p.id,
  operator: (p) => p.role === 'operator',
  participant: (_, o) => o.takesPart === true,
  invoker: (_, o) => o.invokes === true,
  keeper: (p, o) => o.keeper === p.id,
};

/** Whether this principal may do this to this object. Nothing crosses a tenant. */
export function may(principal: Principal, action: Action, object: Guarded): boolean {
  return (
    principal.tenant === object.tenant &&
    rights[action].some((relation) => holds[relation](principal, object, action))
  );
}

/** The one door: throws the refusal (the same as for a missing object) unless a right is held. */
export function authorize(
  principal: Principal,
  action: Action,
  object: Guarded | undefined,
  refusal: () => ThroughlineError,
): asserts object is Guarded {
  if (object === undefined || !may(principal, action, object)) throw refusal();
}
