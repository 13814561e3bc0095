import { generateText, type LanguageModel, type LanguageModelUsage, Output } from 'ai';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { countTokens } from '../handover/count-tokens.ts';
import { cutShort, missedForm, modelError } from './model-error.ts';
import type { Model, ModelRequest, ModelUsage } from './model.ts';
import { spentIn } from './spent-in.ts';

export interface AiModelOptions {
  /** Name in reports. Default: `provider/model` as the AI SDK's model says it. */
  readonly name?: string;
  /** Milliseconds for one request, its retries included. Default: two minutes. */
  readonly timeoutMs?: number;
  /** Retries of an overloaded or unreachable model, waiting as long as it asks. Default: 2. */
  readonly retries?: number;
  /** Tokens of an answer where the request says nothing. Default: 4,096. */
  readonly maxOutputTokens?: number;
}

/** Characters of an answer for each token it may have: what goes beyond that is not kept. */
const charactersPerToken = 64;
/** How often an object is asked for: models do miss a form now and then. */
const objectAttempts = 2;

interface Settings extends Required<AiModelOptions> {
  readonly model: LanguageModel;
}

/**
 * Fills the port `Model` from any language model of the AI SDK: a provider's, or one in middleware.
 * Each call ends within its time limit, retries included, even where the model hangs.
 */
export function aiModel(model: LanguageModel, options: AiModelOptions = {}): Model {
  const settings: Settings = {
    model,
    name: options.name ?? nameOf(model),
    timeoutMs: options.timeoutMs ?? 120_000,
    retries: options.retries ?? 2,
    maxOutputTokens: options.maxOutputTokens ?? 4_096,
  };
  return {
    name: settings.name,
    text: async (request) => {
      const { output: text, usage } = await ask(settings, request, Output.text());
      return { text, usage };
    },
    object: async ({ schema, name, ...request }) => {
      const output = Output.object({ schema, name });
      let spent: ModelUsage = { inputTokens: 0, outputTokens: 0 };
      for (let attempt = 1; ; attempt++) {
        try {
          const { output: value, usage } = await ask(settings, request, output);
          return { value, usage: sum(spent, usage) };
        } catch (error) {
          const missed = error instanceof ThroughlineError ? missedForm(error.cause) : undefined;
          const used = missed
            ? usageOf(request, missed.text ?? '', missed.usage)
            : spentIn(error)?.usage;
          if (used !== undefined) spent = sum(spent, used);
          const isLast = missed === undefined || attempt === objectAttempts;
          if (isLast || missed.finishReason === 'length') throw withUsage(error, spent);
        }
      }
    },
  };
}

/** The same error, with what was used in vain, if anything was. */
const withUsage = (error: unknown, usage: ModelUsage): unknown =>
  error instanceof ThroughlineError && usage.inputTokens + usage.outputTokens > 0
    ? new ThroughlineError(error.code, error.message, { details: { usage }, cause: error.cause })
    : error;

/** The AI SDK says `openai.chat` of what people call `openai`. */
const nameOf = (model: LanguageModel): string =>
  typeof model === 'string' ? model : `${model.provider.split('.')[0] ?? ''}/${model.modelId}`;

interface Answer<Value> {
  readonly output: Value;
  readonly usage: ModelUsage;
}

/** One request; every way in which it may fail has an error of ours. */
async function ask<Value>(
  settings: Settings,
  request: ModelRequest,
  output: Output.Output<Value>,
): Promise<Answer<Value>> {
  const { name, timeoutMs } = settings;
  request.signal?.throwIfAborted();
  const time = AbortSignal.timeout(timeoutMs);
  const signal = request.signal === undefined ? time : AbortSignal.any([time, request.signal]);
  try {
    return await Promise.race([generate(settings, request, output, signal), ended(signal)]);
  } catch (error) {
    request.signal?.throwIfAborted();
    if (!time.aborted) throw modelError(name, error);
    const message = `${name} did not answer within ${timeoutMs} ms.`;
    throw new ThroughlineError('timeout', message, { cause: error });
  }
}

async function generate<Value>(
  { model, name, retries, maxOutputTokens: usual }: Settings,
  request: ModelRequest,
  output: Output.Output<Value>,
  signal: AbortSignal,
): Promise<Answer<Value>> {
  const maxOutputTokens = request.maxOutputTokens ?? usual;
  const result = await generateText({
    model,
    ...(request.system !== undefined && { instructions: request.system }),
    prompt: request.prompt,
    temperature: 0,
    maxOutputTokens,
    maxRetries: retries,
    abortSignal: signal,
    output,
  });
  const { text, finishReason } = result;
  const usage = usageOf(request, text, result.usage);
  if (finishReason === 'length') throw withUsage(cutShort(name), usage);
  if (text.length > maxOutputTokens * charactersPerToken) {
    const message = `${name} answered with ${text.length} characters where ${maxOutputTokens} tokens were allowed.`;
    throw new ThroughlineError('too-large', message, { details: { usage } });
  }
  if (finishReason !== 'stop' || text === '') {
    const message = `${name} gave no answer (${finishReason}).`;
    throw new ThroughlineError('invalid', message, { details: { usage } });
  }
  return { output: result.output, usage };
}

/** Rejects when the signal aborts, also where a model does not heed it. */
const ended = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Tokens of one request, as far as any model can count: beyond it, or below 0, a figure is none. */
const countSchema = z.int().min(0).max(1_000_000_000);

/** What the model counted; where it says nothing that can be, what we count, said to be an estimate. */
function usageOf(request: ModelRequest, text: string, said?: LanguageModelUsage): ModelUsage {
  const inputTokens = countSchema.safeParse(said?.inputTokens).data;
  const outputTokens = countSchema.safeParse(said?.outputTokens).data;
  if (inputTokens !== undefined && outputTokens !== undefined) return { inputTokens, outputTokens };
  return {
    inputTokens: inputTokens ?? countTokens(`${request.system ?? ''}\n${request.prompt}`),
    outputTokens: outputTokens ?? countTokens(text),
    estimated: true,
  };
}

const sum = (a: ModelUsage, b: ModelUsage): ModelUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  ...((a.estimated === true || b.estimated === true) && { estimated: true }),
});
