export { aiModel, type AiModelOptions } from './ai-sdk.ts';
export { modelFromEnv } from './from-env.ts';
export type { Model, ModelRequest, ModelUsage } from './model.ts';
