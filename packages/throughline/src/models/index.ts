export { aiModel, type AiModelOptions } from './ai-sdk.ts';
export { modelFromEnv } from './from-env.ts';
export {
  criteriaGrader,
  gradeCriteria,
  type CriteriaGraded,
  type CriteriaGrader,
  type CriteriaRequest,
  type GradedCriterion,
  type GraderFunction,
  type GraderMeans,
} from './grade-criteria.ts';
export type { Model, ModelRequest, ModelUsage } from './model.ts';
