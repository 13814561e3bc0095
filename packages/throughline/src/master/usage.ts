import { z } from 'zod';
import { agentContextMediaType } from '../model/agent-context.ts';
import { contentAccessKey } from '../model/content.ts';
import {
  compressionSchema,
  usageLimit,
  usageSchema,
  spendingOf,
  type Compression,
  type Counted,
  type Spending,
  type Usage,
} from '../model/usage.ts';
import type { AgentTask } from './connection.ts';
import type { RunState, SubtaskState } from './run-state.ts';

/** Price of a million tokens of each kind. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** Prices by `agent/model`, by model, or by agent: the first that is there counts. */
export type Prices = Readonly<Record<string, Price>>;

const perMillion = 1_000_000;

/** What it cost by the prices; unpriced where none is known. What an agent says of money is not believed. */
export function priced(
  used: readonly Omit<Usage, 'money'>[],
  prices: Prices,
  agent: string,
): Usage[] {
  return used.map(({ model, inputTokens, outputTokens }) => {
    const key = [`${agent}/${model}`, model, agent].find((each) => Object.hasOwn(prices, each));
    const price = key === undefined ? undefined : prices[key];
    return {
      model,
      inputTokens,
      outputTokens,
      ...(price !== undefined && {
        money: (inputTokens * price.input + outputTokens * price.output) / perMillion,
      }),
    };
  });
}

const usedSchema = z.array(usageSchema.omit({ money: true })).max(usageLimit);

/** What an agent claims beside the AgentContext that it returned. */
export interface Claims {
  /** What its models used. */
  readonly usage: readonly Omit<Usage, 'money'>[];
  /** What its local compression left. */
  readonly compression?: Compression;
}

/**
 * `usage` and `compression` beside the returned AgentContext, each from the nearest place that has it well
 * formed: the metadata of its part, of the artifact, of the task. Nothing of what is malformed.
 */
export function claimsOf(task: AgentTask): Claims {
  const beside = task.outputs.toReversed().flatMap(({ parts, metadata }) => {
    const part = parts.find(({ mediaType }) => mediaType === agentContextMediaType);
    return part === undefined ? [] : [part.metadata, metadata];
  });
  const holders = [...beside, task.metadata].flatMap((metadata) => {
    const ours: unknown = metadata?.[contentAccessKey];
    return [metadata, ours];
  });
  const usage = firstOf(holders, 'usage', usedSchema);
  const compression = firstOf(holders, 'compression', compressionSchema);
  return { usage: usage ?? [], ...(compression !== undefined && { compression }) };
}

function firstOf<T>(holders: readonly unknown[], name: string, schema: z.ZodType<T>) {
  for (const holder of holders) {
    const { data } = schema.safeParse(z.looseObject({}).safeParse(holder).data?.[name]);
    if (data !== undefined) return data;
  }
  return undefined;
}

/** Sums by model, what is priced apart from what is not. */
export function byModel(used: readonly Usage[]): Usage[] {
  const sums = new Map<string, Usage>();
  for (const each of used) {
    const { model, inputTokens, outputTokens, money } = each;
    const key = JSON.stringify([model, money !== undefined]);
    const before = sums.get(key) ?? { model, inputTokens: 0, outputTokens: 0 };
    sums.set(key, {
      model,
      inputTokens: before.inputTokens + inputTokens,
      outputTokens: before.outputTokens + outputTokens,
      ...(money !== undefined && { money: (before.money ?? 0) + money }),
    });
  }
  return [...sums.values()].slice(0, 2 * usageLimit);
}

/** What a run spent so far: its hand-overs, the models of its agents, and those of the Master itself. */
export const spendingOfRun = ({ subtasks, planning }: RunState): Spending =>
  spendingOf(Object.values(subtasks).flatMap(countedOf), planning);

/** What is counted of the attempts of one subtask. */
export const countedOf = ({ attempts }: Pick<SubtaskState, 'attempts'>): Counted[] =>
  attempts.map(({ tokens, usage, compression }) => ({
    ...tokens,
    usage,
    ...(compression && { compression }),
  }));
