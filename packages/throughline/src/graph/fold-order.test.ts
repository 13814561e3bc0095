import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { relationshipRules, ruleOf, type Assertion, type Statement } from '../model/index.ts';
import { named, Story } from './conformance.ts';
import { foldAll, apply } from './fold.ts';
import { Graph } from './graph.ts';

const tasks = ['T0', 'T1', 'T2', 'T3'].map((name) => named('task', name));
const dialogs = ['D0', 'D1', 'D2', 'D3'].map((name) => named('dialog', name));
const resources = ['R0', 'R1', 'R2', 'R3'].map((name) => named('resource', name));

interface Saying {
  readonly about: string;
  readonly statement: Statement;
  readonly source: string;
  readonly basis: 'reported' | 'observed' | 'supervised';
}

const arbitraryEnds = fc.oneof(
  ...[tasks, dialogs, resources].map((pool) =>
    fc.tuple(fc.constantFrom(...pool), fc.constantFrom(...pool)),
  ),
  fc.tuple(fc.constantFrom(...resources), fc.constantFrom(...tasks)),
);
const arbitraryTell = fc.oneof(
  fc.record({
    about: fc.constantFrom(...tasks),
    statement: fc.record({
      says: fc.constant('task.state' as const),
      state: fc.constantFrom('in-progress', 'awaiting', 'completed', 'failed', 'timed-out'),
    }),
  }),
  fc.record({
    about: fc.constantFrom(...dialogs),
    statement: fc.record({
      says: fc.constant('dialog.state' as const),
      state: fc.constantFrom('active', 'suspended', 'terminated'),
      inferred: fc.boolean(),
    }),
  }),
  fc.record({
    about: fc.nat({ max: 15 }).map((n) => named('relationship', `e${n}`)),
    statement: fc
      .tuple(
        arbitraryEnds,
        fc.constantFrom('delegated-from', 'derived-from', 'aggregated-from', 'output-of'),
      )
      .map(([[from, to], type]) => ({ says: 'relationship.asserted' as const, type, from, to })),
  }),
  fc.record({
    about: fc.nat({ max: 15 }).map((n) => named('relationship', `e${n}`)),
    statement: fc.constant({ says: 'relationship.revoked' as const }),
  }),
  fc.record({
    about: fc.constantFrom(...tasks),
    statement: fc.constantFrom(
      { says: 'task.cancel-requested' } as const,
      { says: 'task.unresolved' } as const,
      { says: 'task.bound', localId: 'same' } as const,
    ),
  }),
);
const arbitrarySaying: fc.Arbitrary<Saying> = fc
  .record({
    told: arbitraryTell,
    source: fc.constantFrom('hub', named('participant', 'A'), named('participant', 'B')),
    basis: fc.constantFrom('reported', 'observed', 'supervised'),
  })
  .map(({ told, ...how }) => ({ ...told, ...how }));
const arbitrarySayings = fc.array(arbitrarySaying, { minLength: 10, maxLength: 40 });

/** Two participants, one Activity, and the Dialogs, Tasks and Resources that sayings are about. */
function tell(sayings: readonly Saying[]): Assertion[] {
  const story = new Story();
  const [a, b] = [story.participant('A'), story.participant('B')];
  const activity = story.activity('act', a);
  for (const i of [0, 1, 2, 3]) {
    const dialog = story.dialog(`D${i}`, activity, [a, b]);
    story.task(`T${i}`, dialog);
    story.resource(`R${i}`, activity);
  }
  for (const { about, statement, ...how } of sayings) story.say(about, statement, how);
  return story.assertions;
}

const settings = { numRuns: 400, seed: 20_310_101 };

describe('the same numbered assertions', () => {
  it('give the same graph in whatever order they arrive, and however often', () => {
    const arbitrary = arbitrarySayings
      .map(tell)
      .chain((assertions) =>
        fc.tuple(
          fc.constant(assertions),
          fc.shuffledSubarray(assertions, { minLength: assertions.length }),
          fc.subarray(assertions),
        ),
      );
    const hard = ['cycle', 'second-producer', 'final-state'];
    let sets = 0;
    let hardSets = 0;
    fc.assert(
      fc.property(arbitrary, ([inOrder, shuffled, again]) => {
        const graph = foldAll(inOrder);
        sets += 1;
        if (graph.conflicts.some(({ rule }) => hard.includes(rule))) hardSets += 1;
        expect(foldAll([...shuffled, ...again]).snapshot()).toEqual(graph.snapshot());
      }),
      settings,
    );
    expect(hardSets / sets).toBeGreaterThanOrEqual(0.3);
  });

  it('leave a graph in which every rule of the taxonomy holds', () => {
    fc.assert(
      fc.property(arbitrarySayings.map(tell), (assertions) => {
        const graph = foldAll(assertions);
        for (const type of Object.keys(relationshipRules)) {
          for (const { value } of graph.objects()) {
            if (ruleOf(type).single) {
              expect(graph.out(value.id, [type]).length).toBeLessThanOrEqual(1);
            }
            if (ruleOf(type).acyclic) expect(above(graph, value.id, type)).not.toContain(value.id);
          }
        }
      }),
      settings,
    );
  });

  it('each change the one thing they are about, or nothing and are kept as a conflict', () => {
    fc.assert(
      fc.property(arbitrarySayings.map(tell), (assertions) => {
        const graph = new Graph();
        let conflicts = 0;
        for (const assertion of assertions) {
          graph.settle();
          const { applied } = apply(graph, assertion);
          if (!applied) conflicts += 1;
          const changed = [...graph.changes.objects, ...graph.changes.relationships];
          if (assertion.statement.says === 'dialog.opened') continue;
          expect(changed.filter((id) => id !== assertion.about)).toEqual([]);
          if (!applied) expect(changed).toEqual([]);
        }
        expect(graph.conflicts).toHaveLength(conflicts);
      }),
      settings,
    );
  });

  it('of which two share a number are not one domain’s', () => {
    const assertions = tell([]);
    const [first] = assertions;
    if (first === undefined) throw new Error('nothing was told');
    const forged = { ...first, id: named('assertion', 'forged') };
    expect(() => foldAll([...assertions, forged])).toThrow(/number 1 stands on two assertions/);
  });
});

/** Everything above an object along one type, walked without any help of the code under test. */
function above(graph: Graph, id: string, type: string): string[] {
  const edges = [...graph.relationships()].filter((e) => e.type === type && e.status === 'active');
  const found: string[] = [];
  let frontier = [id];
  while (frontier.length > 0 && found.length < 100) {
    frontier = edges.filter((edge) => frontier.includes(edge.from)).map((edge) => edge.to);
    found.push(...frontier);
  }
  return found;
}
