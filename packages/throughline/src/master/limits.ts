import type { RunLimits } from './context.ts';
import { limitNames, type LimitName, type RunState } from './run-state.ts';
import { spendingOfRun } from './usage.ts';

/** What a run used up of each kind by now. */
function spent(state: RunState, now: Date): Readonly<Record<LimitName, number>> {
  const { sent, inputTokens, outputTokens, money = 0 } = spendingOfRun(state);
  return {
    tokens: sent + inputTokens + outputTokens,
    money,
    seconds: (now.getTime() - Date.parse(state.taskContext.StartTime ?? '')) / 1_000,
  };
}

/** A limit with what was allowed on top of it. */
const allowed = (state: RunState, limits: RunLimits, name: LimitName): number =>
  (limits[name] ?? Infinity) * (1 + (state.raised[name] ?? 0));

export interface Hit {
  readonly limit: LimitName;
  readonly reason: string;
}

/** The limit that is reached; undefined when none is. */
export function hitLimit(state: RunState, limits: RunLimits, now: Date): Hit | undefined {
  const used = spent(state, now);
  const limit = limitNames.find((name) => used[name] >= allowed(state, limits, name));
  if (limit === undefined) return undefined;
  const most = allowed(state, limits, limit);
  const [what, figure] =
    limit === 'seconds'
      ? ['time', `${most} seconds`]
      : limit === 'tokens'
        ? ['tokens', `${used.tokens} of ${most} tokens`]
        : ['money', `${used.money} of ${most}`];
  return { limit, reason: `The limit of ${what} is reached: ${figure}.` };
}

/** When the time of a run is over, as milliseconds since 1970. */
export function timeIsOverAt(state: RunState, limits: RunLimits): number | undefined {
  if (limits.seconds === undefined) return undefined;
  const seconds = allowed(state, limits, 'seconds');
  return Date.parse(state.taskContext.StartTime ?? '') + seconds * 1_000;
}
