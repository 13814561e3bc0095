import type { Quotas } from '../model/index.ts';
import type { Store } from '../store/store.ts';
import { ThroughlineError } from '../errors.ts';
import type { HubOptions } from './hub.ts';
import { Ids, type Random } from './ids.ts';
import { Vault } from './vault.ts';

const day = 86_400_000;

/** How contexts are taken and how long things are kept, in milliseconds. */
export interface HubTerms {
  /** What becomes of a contextId that was never issued: refused (default), or taken from its sender. */
  readonly contextPolicy: 'refuse' | 'adopt';
  /** A context that no message used for so long is over. Default: 30 days. */
  readonly contextTtlMs: number;
  /** Records of tasks and replies go so long after they are over. Absent: with their case. */
  readonly taskTtlMs?: number | undefined;
  /** What was written in a case goes so long after its last change. Absent: never by itself. */
  readonly historyTtlMs?: number | undefined;
}

/** How processes of agents are told to be alive, in milliseconds. */
export interface WorkerTerms {
  /** A process that says nothing for so long counts as gone. */
  readonly leaseMs: number;
  /** Then its tasks are offered for so long before their outcome counts as unknown. */
  readonly patienceMs: number;
}

/** What every part of the hub is made with. */
export interface Deps {
  readonly store: Store;
  readonly vault: Vault;
  readonly ids: Ids;
  readonly random: Random;
  readonly now: () => Date;
  /** Origin of the hub's URL, without a slash at the end; ContextURIs begin with it. */
  readonly origin: string;
  readonly terms: HubTerms;
  /** Limits of tenants for which no operator set others. */
  readonly quotas: Quotas;
  /** Where this hub runs, and whether content may cross to it from elsewhere. */
  readonly regions: ContentRegions;
  /** Milliseconds that whoever took something up has before others may. */
  readonly leaseMs: number;
  readonly workers: WorkerTerms;
  /** Of agents in this process: see `Beat.seat`. */
  readonly seat?: string | undefined;
}

/** Where offloaded content may lie and be served from. */
export interface ContentRegions {
  /** Region of this hub and of its place for content, such as `eu-west-1`. */
  readonly here?: string | undefined;
  /** `same`: content of another region is neither taken nor served here. Default: `any`. */
  readonly policy?: 'any' | 'same' | undefined;
}

export function depsOf(options: HubOptions, random: Random): Deps {
  return {
    store: options.store,
    vault: new Vault(options.domainKey, random),
    ids: new Ids(random),
    random,
    now: options.clock ?? (() => new Date()),
    origin: new URL(options.origin).origin,
    terms: termsOf(options),
    quotas: { tenant: options.quotas?.tenant ?? {}, principal: options.quotas?.principal ?? {} },
    regions: options.content?.regions ?? {},
    leaseMs: options.leaseMs ?? 30_000,
    seat: options.seat,
    workers: { leaseMs: 15_000, patienceMs: 120_000, ...options.workers },
  };
}

/** Throws `invalid` where history would go before what leads to it. */
function termsOf(options: Partial<HubTerms>): HubTerms {
  const { contextPolicy = 'refuse', contextTtlMs = 30 * day, taskTtlMs, historyTtlMs } = options;
  for (const [name, ms] of Object.entries({ contextTtlMs, taskTtlMs, historyTtlMs })) {
    if (ms !== undefined && !(ms > 0)) {
      throw new ThroughlineError('invalid', `${name}: must be more than 0 milliseconds`);
    }
  }
  if (historyTtlMs !== undefined && historyTtlMs < Math.max(contextTtlMs, taskTtlMs ?? 0)) {
    throw new ThroughlineError(
      'invalid',
      'historyTtlMs: history outlives contexts and tasks; give it at least as long as each of them',
    );
  }
  return { contextPolicy, contextTtlMs, taskTtlMs, historyTtlMs };
}
