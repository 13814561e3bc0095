import { describe, expect, it } from 'vitest';
import type { AgentContext, EvaluationResult } from '../model/agent-context.ts';
import { makeAgentContext } from './agent-context.ts';
import { judge } from './judge.ts';

const sent = makeAgentContext({
  agent: { id: 'a', name: 'A' },
  subtask: { id: 's', name: 'S' },
  dependencies: [],
  items: [],
  todo: [{ id: 'one', description: 'Do it' }],
  criteria: [
    { id: 'must', description: 'It is right', required: true },
    { id: 'may', description: 'It is short', required: false },
  ],
  confidence: 0.8,
});
const passed = (
  refs: string[] = ['report.json'],
): EvaluationResult['CriterionResults'][number] => ({
  CriterionID: 'must',
  Status: 'passed',
  EvidenceRefs: refs,
  TraceRefs: [],
});
const good: AgentContext = {
  ...sent,
  ItemStateUpdates: [{ itemID: 'one', state: 1 }],
  KeyInformation: [{ itemID: 'one', outputabstract: '42' }],
  EvaluationResult: {
    Status: 'passed',
    Confidence: 0.9,
    CriterionResults: [passed()],
    FailureReason: '',
  },
};
const evaluated = (result: Partial<EvaluationResult>): AgentContext => ({
  ...good,
  EvaluationResult: { ...good.EvaluationResult, ...result },
});
const unevaluated = evaluated({ Status: 'not_evaluated', Confidence: 0, CriterionResults: [] });
const evidence = new Set(['report.json']);

const found = (id: string, ok: boolean) => ({
  id,
  ok,
  by: 'pattern',
  reason: '',
  evidence: [],
});

const itIs43 = () => ({ ok: false, reason: 'it is 43' });

/** Judged by a grader that lets the whole pass and this criterion not. */
const grading = (id: string) => {
  const grade = { ok: true, reason: '', criteria: [found(id, false)] };
  return judge({ grade: () => grade }, good, evidence);
};

describe('the second layer of evaluation', () => {
  it('accepts a result whose structure holds and whose evidence is there', () => {
    expect(judge({}, good, evidence)).toEqual({ ok: true, reasons: [], relaxed: [] });
  });

  it.each<[string, AgentContext]>([
    ['item one is not done', { ...good, ItemStateUpdates: [] }],
    ['item one is not done', { ...good, ItemStateUpdates: [{ itemID: 'one', state: 0 }] }],
    ['item one has no key information', { ...good, KeyInformation: [] }],
    [
      'item one has no key information',
      { ...good, KeyInformation: [{ itemID: 'one', outputabstract: ' ' }] },
    ],
    [
      'criterion must is failed',
      evaluated({ CriterionResults: [{ ...passed(), Status: 'failed' }] }),
    ],
    ['criterion must was not evaluated', evaluated({ CriterionResults: [] })],
    ['criterion must is passed without evidence', evaluated({ CriterionResults: [passed([])] })],
    ['confidence 0.7 is below the threshold 0.8', evaluated({ Confidence: 0.7 })],
    ['confidence NaN is not from 0 to 1', evaluated({ Confidence: Number.NaN })],
    ['confidence Infinity is not from 0 to 1', evaluated({ Confidence: Number.POSITIVE_INFINITY })],
    [
      'criterion must was evaluated more than once',
      evaluated({ CriterionResults: [{ ...passed(), Status: 'failed' }, passed()] }),
    ],
    ['the agent evaluated its own result as failed', evaluated({ Status: 'failed' })],
    [
      'the agent evaluated its own result as failed: the page is torn',
      evaluated({ Status: 'failed', FailureReason: ' the page is torn ' }),
    ],
    [
      `the agent evaluated its own result as failed: ${'x'.repeat(300)}`,
      evaluated({ Status: 'failed', FailureReason: 'x'.repeat(9_000) }),
    ],
    [
      'criterion must: secret.json is not evidence, for it was neither given nor produced',
      evaluated({ CriterionResults: [passed(['report.json', 'secret.json'])] }),
    ],
  ])('refuses: %s', (reason, context) => {
    expect(judge({}, context, evidence)).toEqual({ ok: false, reasons: [reason], relaxed: [] });
  });

  it('asks the grader only when the structure holds, and follows it', () => {
    expect(judge({ grade: itIs43 }, good, evidence).reasons).toEqual(['it is 43']);
    expect(judge({ grade: itIs43 }, { ...good, ItemStateUpdates: [] }, evidence).reasons).toEqual([
      'item one is not done',
    ]);
  });

  it('never takes the word of an agent that evaluated nothing', () => {
    expect(judge({}, unevaluated, evidence).ok).toBe(false);
    const noCriteria: AgentContext = {
      ...unevaluated,
      EvaluationPolicy: { SuccessCriteria: [], ConfidenceThreshold: 0 },
    };
    expect(judge({}, noCriteria, evidence).ok).toBe(false);
  });

  it('lets the grader decide, or a relaxation that the verdict names', () => {
    expect(judge({ grade: () => ({ ok: true, reason: '' }) }, unevaluated, evidence)).toEqual({
      ok: true,
      reasons: [],
      relaxed: [],
    });
    expect(judge({ relaxed: true }, unevaluated, evidence)).toEqual({
      ok: true,
      reasons: [],
      relaxed: ['must'],
    });
  });

  it('holds a grader that goes by criteria to those that it looked at', () => {
    const graded = (...criteria: ReturnType<typeof found>[]) => ({
      grade: () => ({ ok: criteria.every(({ ok }) => ok), reason: 'not met', criteria }),
    });
    expect(judge(graded(found('must', true)), unevaluated, evidence)).toEqual({
      ok: true,
      reasons: [],
      relaxed: [],
      criteria: [found('must', true)],
    });
    expect(judge(graded(found('must', false)), good, evidence).reasons).toEqual(['not met']);
    expect(judge(graded(found('may', true)), unevaluated, evidence).reasons).toEqual([
      'criterion must was evaluated by nobody',
    ]);
    expect(judge(graded(found('may', true)), good, evidence).ok).toBe(true);
    const relaxed = judge({ relaxed: true, ...graded(found('may', true)) }, unevaluated, evidence);
    expect(relaxed).toMatchObject({ ok: true, relaxed: ['must'] });
  });

  it('relaxes nothing that the agent itself found wanting', () => {
    const failed = evaluated({ CriterionResults: [{ ...passed(), Status: 'failed' }] });
    expect(judge({ relaxed: true }, failed, evidence).ok).toBe(false);
  });

  it('leaves the result as it was', () => {
    const before = structuredClone(good);
    judge({}, good, new Set());
    expect(good).toEqual(before);
  });

  it('refuses what its grader lets pass with a required criterion that it found not met', () => {
    expect(grading('must').ok).toBe(false);
    expect(grading('must').reasons).toEqual([expect.stringMatching(/^criterion must/)]);
    expect(grading('may').ok).toBe(true);
  });

  it('says that it let a whole result through without confidence', () => {
    const silent = evaluated({ Status: '', Confidence: 0 });
    expect(judge({ relaxed: true }, silent, evidence)).toMatchObject({
      ok: true,
      relaxed: ['the whole result'],
    });
  });
});
