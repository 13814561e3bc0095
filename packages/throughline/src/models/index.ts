export { aiModel, type AiModelOptions } from './ai-sdk.ts';
export { modelFromEnv } from './from-env.ts';
export {
  gradeCriteria,
  type CriteriaGraded,
  type GradedCriterion,
  type GraderFunction,
  type GraderMeans,
} from './grade-criteria.ts';
export type { Model, ModelRequest, ModelUsage } from './model.ts';
