import type { AgentContext } from '../model/agent-context.ts';
import type { CriterionGrade } from '../model/grader.ts';
import type { Usage } from '../model/usage.ts';

/** What a grader says about the meaning of a result. */
export interface Grade {
  readonly ok: boolean;
  readonly reason: string;
  /** Where it looked at criteria one by one: what it found. Those that it left out it did not look at. */
  readonly criteria?: readonly CriterionGrade[];
  /** What models used for it. */
  readonly usage?: readonly Omit<Usage, 'money'>[];
}

export interface JudgePolicy {
  /**
   * Relaxed: criteria that the agent did not evaluate do not stand against it, because it is known to
   * return no evaluation. The verdict says so. Default: strict.
   */
  readonly relaxed?: boolean;
  /** Looks at the meaning, after the structure held. */
  readonly grade?: ((context: AgentContext) => Grade) | undefined;
}

/** Evaluation Outputs of the Master: stands beside the agent's result, never over it. */
export interface Verdict {
  readonly ok: boolean;
  /** What stands against it; empty when nothing does. */
  readonly reasons: readonly string[];
  /** Criteria that were let through without evidence. */
  readonly relaxed: readonly string[];
  /** What the grader found of single criteria. */
  readonly criteria?: readonly CriterionGrade[];
}

/**
 * Second layer of evaluation. Structure first: every item done, key information for each, required
 * criteria passed, confidence at the threshold, every evidence reference among what that Dialog was
 * given or produced. Then meaning, by the policy's grader.
 *
 * A criterion that the agent did not evaluate is the grader's to decide where there is one; a grader
 * that goes by criteria decides those that it looked at.
 *
 * @param evidence Everything that Dialog was given or produced: ids, URIs and names of outputs.
 */
export function judge(
  policy: JudgePolicy,
  context: AgentContext,
  evidence: ReadonlySet<string>,
): Verdict {
  const relaxed: string[] = [];
  const structural = [
    ...openItems(context),
    ...criteriaProblems(policy, context, relaxed),
    ...confidenceProblems(policy, context, relaxed),
    ...evidenceProblems(context, evidence),
  ];
  if (structural.length > 0) return { ok: false, reasons: structural, relaxed };
  const grade = policy.grade?.(context);
  if (grade === undefined) return { ok: true, reasons: [], relaxed };
  const { criteria } = grade;
  const reasons = [
    ...(grade.ok ? [] : [grade.reason]),
    ...(criteria === undefined || !grade.ok ? [] : deniedBy(context, criteria)),
    ...(criteria === undefined ? [] : leftOpen(policy, context, criteria, relaxed)),
  ];
  return { ok: reasons.length === 0, reasons, relaxed, ...(criteria && { criteria }) };
}

/** Required criteria that a grader does not find met, though it lets the whole pass. */
function deniedBy(context: AgentContext, graded: readonly CriterionGrade[]): string[] {
  const required = new Set(
    context.EvaluationPolicy.SuccessCriteria.filter(({ Required }) => Required).map(
      ({ CriterionID }) => CriterionID,
    ),
  );
  return graded
    .filter(({ id, ok }) => !ok && required.has(id))
    .map(({ id, reason }) => `criterion ${id}: ${reason}`);
}

/** Required criteria that neither the agent nor the grader looked at. */
function leftOpen(
  policy: JudgePolicy,
  context: AgentContext,
  graded: readonly CriterionGrade[],
  relaxed: string[],
): string[] {
  const looked = new Set(graded.map(({ id }) => id));
  for (const { CriterionID: id, Status: status } of context.EvaluationResult.CriterionResults) {
    if (status === 'passed') looked.add(id);
  }
  const open = context.EvaluationPolicy.SuccessCriteria.filter(
    ({ CriterionID: id, Required }) => Required && !looked.has(id) && !relaxed.includes(id),
  ).map(({ CriterionID }) => CriterionID);
  if (policy.relaxed !== true) return open.map((id) => `criterion ${id} was evaluated by nobody`);
  relaxed.push(...open);
  return [];
}

function openItems(context: AgentContext): string[] {
  const done = new Set(
    context.ItemStateUpdates.filter(({ state }) => state === 1).map(({ itemID }) => itemID),
  );
  const told = new Set(
    context.KeyInformation.filter(({ outputabstract }) => outputabstract.trim() !== '').map(
      ({ itemID }) => itemID,
    ),
  );
  return context.todoItems.flatMap(({ itemID }) => [
    ...(done.has(itemID) ? [] : [`item ${itemID} is not done`]),
    ...(told.has(itemID) ? [] : [`item ${itemID} has no key information`]),
  ]);
}

/** The agent made no evaluation at all: not the same as one that failed. */
const isUnevaluated = (context: AgentContext): boolean =>
  ['', 'not_evaluated'].includes(context.EvaluationResult.Status);

function criteriaProblems(policy: JudgePolicy, context: AgentContext, relaxed: string[]): string[] {
  const results = Map.groupBy(
    context.EvaluationResult.CriterionResults,
    ({ CriterionID }) => CriterionID,
  );
  const required = context.EvaluationPolicy.SuccessCriteria.filter(({ Required }) => Required);
  if (required.length === 0 && isUnevaluated(context) && policy.grade === undefined) {
    if (policy.relaxed !== true) return ['the agent evaluated nothing and there is no grader'];
    relaxed.push('the whole result');
  }
  return required.flatMap(({ CriterionID: id }) => {
    const [result, ...more] = results.get(id) ?? [];
    if (more.length > 0) return [`criterion ${id} was evaluated more than once`];
    if (result?.Status === 'passed' && result.EvidenceRefs.length > 0) return [];
    const status = result?.Status ?? '';
    if (status === 'failed' || status === 'partial') return [`criterion ${id} is ${status}`];
    if (status === '' || status === 'not_evaluated') {
      if (policy.grade !== undefined) return [];
      if (policy.relaxed !== true) return [`criterion ${id} was not evaluated`];
    } else if (policy.relaxed !== true) {
      return [`criterion ${id} is passed without evidence`];
    }
    relaxed.push(id);
    return [];
  });
}

/** Characters of an agent's own reason that are repeated. */
const shownOfReason = 300;

function confidenceProblems(
  policy: JudgePolicy,
  context: AgentContext,
  relaxed: string[],
): string[] {
  const { Status: status, Confidence: confidence, FailureReason: why } = context.EvaluationResult;
  if (status === 'failed') {
    const said = why.trim() === '' ? '' : `: ${why.trim().slice(0, shownOfReason)}`;
    return [`the agent evaluated its own result as failed${said}`];
  }
  if (isUnevaluated(context) && policy.grade !== undefined) return [];
  if (isUnevaluated(context) && policy.relaxed === true) {
    if (relaxed.length === 0) relaxed.push('the whole result');
    return [];
  }
  const threshold = context.EvaluationPolicy.ConfidenceThreshold;
  if (!(confidence >= 0 && confidence <= 1)) return [`confidence ${confidence} is not from 0 to 1`];
  return confidence >= threshold
    ? []
    : [`confidence ${confidence} is below the threshold ${threshold}`];
}

function evidenceProblems(context: AgentContext, evidence: ReadonlySet<string>): string[] {
  return context.EvaluationResult.CriterionResults.flatMap(
    ({ CriterionID: id, EvidenceRefs: refs }) =>
      refs
        .filter((ref) => !evidence.has(ref))
        .map(
          (ref) => `criterion ${id}: ${ref} is not evidence, for it was neither given nor produced`,
        ),
  );
}
