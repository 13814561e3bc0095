import { expect, it } from 'vitest';
import { makeAgentContext } from './agent-context.ts';
import { visibleTraces } from './visible-traces.ts';

const made = makeAgentContext({
  agent: { id: 'a', name: 'A' },
  subtask: { id: 's', name: 'S' },
  dependencies: [],
  items: [],
  todo: [{ id: 'one', description: 'One' }],
  criteria: [],
  confidence: 0,
});
const returned = (...refs: string[][]) => ({
  context: {
    ...made,
    EvaluationResult: {
      ...made.EvaluationResult,
      CriterionResults: refs.map((TraceRefs, at) => ({
        CriterionID: `c-${at}`,
        Status: 'passed' as const,
        EvidenceRefs: ['out'],
        TraceRefs,
      })),
    },
  },
  dropped: ['Orders'],
});
const ours = '4bf92f3577b34da6a3ce929d0e0e4736';
const theirs = 'a'.repeat(32);

it('keeps traces that the Master may see, and leaves out and names all others', () => {
  const given = returned([ours, theirs], ['trace.json'], [theirs]);
  const { context, dropped } = visibleTraces(given, new Set([ours, 'trace.json']));
  const kept = context.EvaluationResult.CriterionResults.map(({ TraceRefs }) => TraceRefs);
  expect(kept).toEqual([[ours], ['trace.json'], []]);
  expect(dropped).toEqual([
    'Orders',
    'EvaluationResult.CriterionResults[0].TraceRefs[1]',
    'EvaluationResult.CriterionResults[2].TraceRefs[0]',
  ]);
  expect(JSON.stringify(context)).not.toContain(theirs);
});

it('changes nothing of a return whose traces the Master may all see', () => {
  const given = returned([ours], []);
  expect(visibleTraces(given, new Set([ours]))).toEqual(given);
});
