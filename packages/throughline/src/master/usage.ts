import { z } from 'zod';
import { agentContextMediaType } from '../model/agent-context.ts';
import { contentAccessKey } from '../model/content.ts';
import { usageLimit, usageSchema, type Usage } from '../model/usage.ts';
import type { AgentTask } from './connection.ts';
import type { RunState } from './run-state.ts';

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

const returnedSchema = z.array(usageSchema.omit({ money: true })).max(usageLimit);

/** What an agent says that its models used: `usage` beside the AgentContext it returned. Nothing, where it is malformed. */
export function returnedUsage(task: AgentTask): Omit<Usage, 'money'>[] {
  const beside = task.outputs.toReversed().flatMap(({ parts, metadata }) => {
    const part = parts.find(({ mediaType }) => mediaType === agentContextMediaType);
    return part === undefined ? [] : [part.metadata, metadata];
  });
  for (const metadata of [...beside, task.metadata]) {
    const ours: unknown = metadata?.[contentAccessKey];
    for (const holder of [metadata, ours]) {
      const { data } = z.looseObject({ usage: returnedSchema }).safeParse(holder);
      if (data !== undefined) return data.usage;
    }
  }
  return [];
}

/** Everything that models used for a run. */
export const allUsage = ({ subtasks, planning }: RunState): Usage[] => [
  ...planning,
  ...Object.values(subtasks).flatMap(({ attempts }) => attempts.flatMap(({ usage }) => usage)),
];

/** Sums; money is the sum of what is priced, and absent where nothing is. */
export function addUp(used: readonly Usage[]): Omit<Usage, 'model'> {
  const sum = (of: (each: Usage) => number): number =>
    used.reduce((all, each) => all + of(each), 0);
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    ...(used.some(({ money }) => money !== undefined) && { money: sum(({ money = 0 }) => money) }),
  };
}
