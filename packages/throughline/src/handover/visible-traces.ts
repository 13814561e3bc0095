import type { AcceptedReturn } from './accept-return.ts';

/**
 * Keeps of the TraceRefs that an agent returned those that name what the Master may see: the trace that it
 * called under, and what that Dialog was given or produced. Others are of systems that it has no part in;
 * they are left out and named.
 */
export function visibleTraces(
  { context, dropped }: AcceptedReturn,
  visible: ReadonlySet<string>,
): AcceptedReturn {
  const hidden: string[] = [];
  const { EvaluationResult: result } = context;
  const CriterionResults = result.CriterionResults.map((criterion, at) => {
    const TraceRefs = criterion.TraceRefs.filter((ref, place) => {
      if (visible.has(ref)) return true;
      hidden.push(`EvaluationResult.CriterionResults[${at}].TraceRefs[${place}]`);
      return false;
    });
    return { ...criterion, TraceRefs };
  });
  if (hidden.length === 0) return { context, dropped };
  return {
    context: { ...context, EvaluationResult: { ...result, CriterionResults } },
    dropped: [...dropped, ...hidden],
  };
}
