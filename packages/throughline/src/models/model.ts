import type { z } from 'zod';

/** Tokens that a model counted itself, by its own tokenizer. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The model did not say; counted with our own tokenizer. */
  readonly estimated?: true;
}

export interface ModelRequest {
  /** Instructions. What comes from elsewhere goes into `prompt`, marked as quoted data. */
  readonly system?: string;
  readonly prompt: string;
  readonly maxOutputTokens?: number;
  /** Gives the call up. Every call ends by itself after the model's own time limit, too. */
  readonly signal?: AbortSignal;
}

/**
 * A language model, as planners, graders, summarisers and agents use one. Both methods throw
 * ThroughlineError: `unavailable` (may be retried) when it can't be reached or is overloaded,
 * `timeout`, `invalid` when it answers in another form than asked for, `too-large` when its answer is cut;
 * where anything was used in vain, `details.usage` says it.
 */
export interface Model {
  /** Names provider and model in reports and figures: `openai/gpt-5`. */
  readonly name: string;
  text(request: ModelRequest): Promise<{ readonly text: string; readonly usage: ModelUsage }>;
  /** Structured output, checked by the schema. */
  object<Value>(
    request: ModelRequest & { readonly schema: z.ZodType<Value>; readonly name: string },
  ): Promise<{ readonly value: Value; readonly usage: ModelUsage }>;
}
