import type { AgentContext, EvaluationResult } from '../model/agent-context.ts';
import { ThroughlineError } from '../errors.ts';
import type { HandlerResult } from './handler.ts';

/** What there is to show for the work where the handler names nothing of its own. */
interface Shown {
  /** Names of outputs. */
  readonly evidence: readonly string[];
  readonly traces: readonly string[];
}

type CriterionResult = EvaluationResult['CriterionResults'][number];

/**
 * First layer of evaluation: the handler's findings where it made any, else a simple default: a
 * criterion is passed when every item is done and there is something to show for it.
 *
 * @throws ThroughlineError `invalid` for a finding about a criterion that was not asked for.
 */
export function selfCheck(
  context: AgentContext,
  found: HandlerResult,
  shown: Shown,
): EvaluationResult {
  const criteria = context.EvaluationPolicy.SuccessCriteria;
  const stranger = found.criteria?.find(
    ({ id }) => !criteria.some(({ CriterionID }) => CriterionID === id),
  );
  if (stranger !== undefined) {
    throw new ThroughlineError('invalid', `There is no criterion ${stranger.id} to judge.`);
  }
  const states = new Map(context.ItemStateUpdates.map(({ itemID, state }) => [itemID, state]));
  const isDone = context.todoItems.every(({ itemID }) => states.get(itemID) === 1);
  const { evidence, traces } = shown;
  const byDefault = isDone && evidence.length > 0 ? ('passed' as const) : ('partial' as const);
  const results = criteria.map(({ CriterionID }): CriterionResult => {
    const finding = found.criteria?.find(({ id }) => id === CriterionID);
    if (finding === undefined) {
      return {
        CriterionID,
        Status: byDefault,
        EvidenceRefs: [...evidence],
        TraceRefs: [...traces],
      };
    }
    return {
      CriterionID,
      Status: finding.passed ? 'passed' : 'failed',
      EvidenceRefs: [...finding.evidence],
      TraceRefs: [...(finding.traces ?? traces)],
    };
  });
  const required = results.filter((_, at) => criteria[at]?.Required === true);
  const isFailed =
    found.failure !== undefined || required.some((result) => result.Status === 'failed');
  const isPassed = isDone && required.every((result) => result.Status === 'passed');
  return {
    Status: isFailed ? 'failed' : isPassed ? 'passed' : 'partial',
    Confidence: found.confidence ?? (isPassed && !isFailed ? 1 : 0),
    CriterionResults: results,
    FailureReason: found.failure ?? (isPassed ? '' : reasonOf(isDone, required)),
  };
}

function reasonOf(isDone: boolean, required: readonly CriterionResult[]): string {
  if (!isDone) return 'not every item is done';
  const open = required.filter((result) => result.Status !== 'passed');
  return `not passed: ${open.map(({ CriterionID }) => CriterionID).join(', ')}`;
}
