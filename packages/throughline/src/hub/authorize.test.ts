import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { grantOperations, type GrantOperation, type Principal } from '../model/index.ts';
import {
  authorize,
  may,
  relations,
  rights,
  type Action,
  type Guarded,
  type Relation,
} from './authorize.ts';

const caller: Principal = { tenant: 't', id: 'me', role: 'caller' };
const none: Guarded = {
  tenant: 't',
  owner: 'other',
  caseOwner: 'other',
  agent: 'else',
  keeper: 'x',
};
const actions = Object.keys(rights).filter((each): each is Action => each in rights);
const operationOf = (action: Action): GrantOperation[] =>
  grantOperations.filter((operation) => operation === action);

/** An object to which the caller stands in exactly one relation. */
const standing: Record<Relation, (action: Action) => [Principal, Guarded]> = {
  owner: () => [caller, { ...none, owner: 'me' }],
  grantee: (action) => [caller, { ...none, granted: operationOf(action) }],
  agent: () => [caller, { ...none, agent: 'me' }],
  operator: () => [{ ...caller, role: 'operator' }, none],
  participant: () => [caller, { ...none, takesPart: true }],
  invoker: () => [caller, { ...none, invokes: true }],
  keeper: () => [caller, { ...none, keeper: 'me' }],
};

const allowed: Readonly<Record<Action, string>> = {
  get: 'owner grantee agent operator',
  list: 'owner grantee agent operator',
  send: 'owner grantee',
  cancel: 'owner grantee operator',
  subscribe: 'owner grantee agent operator',
  push: 'owner grantee',
  execute: 'agent',
  grant: 'owner operator',
  manage: 'owner operator',
  assert: 'participant',
  account: 'invoker',
  texts: 'invoker operator',
  keep: 'keeper',
  administer: 'operator',
};

const refusal = () => new ThroughlineError('not-found', 'no');

describe('the one door', () => {
  const cells = actions.flatMap((action) => relations.map((relation) => ({ action, relation })));

  it.each(cells)('decides $action for $relation', ({ action, relation }) => {
    const [principal, object] = standing[relation](action);
    const expected = allowed[action].split(' ').includes(relation);
    expect(may(principal, action, object)).toBe(expected);
    const enter = () => authorize(principal, action, object, refusal);
    if (expected) expect(enter).not.toThrow();
    else expect(enter).toThrow(ThroughlineError);
  });

  it.each(cells)('lets $action by $relation never cross a tenant', ({ action, relation }) => {
    const [principal, object] = standing[relation](action);
    expect(may({ ...principal, tenant: 'u' }, action, object)).toBe(false);
  });

  it.each(actions)('gives %s to nobody without a relation, and on nothing', (action) => {
    expect(may(caller, action, none)).toBe(false);
    expect(may(caller, action, { tenant: 't' })).toBe(false);
    expect(() => authorize(caller, action, undefined, refusal)).toThrow(ThroughlineError);
  });

  it.each(grantOperations)('counts a grant of %s for that operation alone', (operation) => {
    const object = { ...none, granted: [operation] };
    expect(actions.filter((action) => may(caller, action, object))).toEqual([operation]);
  });
});
