import { isText } from '../handover/media.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { HandedGraders } from '../model/content.ts';
import { isPure } from '../model/grader.ts';
import { criteriaGrader } from '../models/grade-criteria.ts';
import type { HandlerResult } from './handler.ts';
import type { ItemReader, Outputs } from './io.ts';

/** What graders may look at of a piece of work. */
interface Ground {
  readonly graders: HandedGraders;
  readonly outputs: Outputs;
  readonly reader: ItemReader;
}

/** Names of the outputs that these graders look at. */
export const gradedOutputs = (graders: HandedGraders): ReadonlySet<string> =>
  new Set(
    Object.values(graders).flatMap((spec) =>
      isPure(spec) && spec.of !== undefined && 'output' in spec.of ? [spec.of.output] : [],
    ),
  );

/**
 * Adds what the graders that came with the work find of criteria that the handler left open: the same
 * that the Master goes by, so that what does not hold is known before it is returned. What takes a model
 * or a function is left to the Master.
 */
export async function gradeOwn(
  context: AgentContext,
  result: HandlerResult,
  { graders, outputs, reader }: Ground,
): Promise<HandlerResult> {
  const { criteria: found = [], failure } = result;
  const open = context.EvaluationPolicy.SuccessCriteria.flatMap(
    ({ CriterionID: id, Description: description, Required: required }) => {
      const grade = Object.hasOwn(graders, id) ? graders[id] : undefined;
      if (grade === undefined || !isPure(grade)) return [];
      const isFound = found.some((each) => each.id === id);
      return isFound ? [] : [{ id, description, required, grade }];
    },
  );
  if (open.length === 0) return result;
  const graded = await criteriaGrader()({
    subtask: { criteria: open },
    context,
    output: (name) => Promise.resolve(outputs.text(name)),
    material: async (contextId) => {
      const content = await reader.fetch(contextId);
      return isText(content.mediaType) ? content.text() : undefined;
    },
  });
  if (graded === undefined) return result;
  const all = [...outputs.refs.keys()];
  const findings = graded.criteria.map(({ id, ok, evidence }) => ({
    id,
    passed: ok,
    evidence: evidence.length > 0 ? evidence : all,
  }));
  const reason = failure ?? (graded.ok ? undefined : graded.reason);
  return {
    ...result,
    criteria: [...found, ...findings],
    ...(reason !== undefined && { failure: reason }),
  };
}
