import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  foreignId,
  quotaNames,
  quotasSchema,
  type Principal,
  type QuotaLimits,
  type QuotaName,
  type QuotaReport,
  type Quotas as Limits,
} from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { measure } from '../telemetry/measure.ts';
import { authorize } from './authorize.ts';
import { contextRecords, type Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import { grantRecords } from './grant-records.ts';
import { keyRecords } from './keys.ts';
import { messageRecords, type Messages } from './messages.ts';
import { Records } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { taskKind, type TaskStore } from './task-records.ts';

const minuteMs = 60_000;

/** Limits of one tenant, where an operator set them. */
const quotaRecords = new Records('quota', quotasSchema, z.object({}));
/** What can't be counted from what is stored: sums of bytes. */
const sumRecords = new Records('usage', z.object({ bytes: z.int() }), z.object({}));
export const sumKind: string = sumRecords.kind;

type Who = Pick<Principal, 'tenant' | 'id'>;
/** Bytes that somebody keeps here. */
export interface Stored extends Who {
  readonly bytes: number;
}

interface Counted {
  readonly kind: string;
  readonly principal: Readonly<Record<string, string>>;
  readonly tenant: Readonly<Record<string, string>>;
  /** Only those since then. */
  readonly from?: number;
}

/**
 * How much a tenant, and each of its principals, may have here. What is stored is counted in the write
 * that adds to it, along an index and never beyond the limit, so that it is right whatever runs beside.
 */
export class Quotas {
  readonly #deps: Deps;
  readonly #contexts: Contexts;
  readonly #messages: Messages;
  readonly #tasks: TaskStore;
  readonly #known = new WeakMap<StoreReader, { tenant: string; limits: Limits }>();

  constructor(deps: Deps, parts: { contexts: Contexts; messages: Messages; tasks: TaskStore }) {
    this.#deps = deps;
    this.#contexts = parts.contexts;
    this.#messages = parts.messages;
    this.#tasks = parts.tasks;
  }

  /** Throws `quota` when one more would be too many. */
  async check(writer: StoreWriter, name: Exclude<QuotaName, 'bytes'>, who: Who): Promise<void> {
    const limits = await this.#limits(writer, who.tenant);
    for (const scope of ['principal', 'tenant'] as const) {
      const limit = limits[scope][name];
      if (limit === undefined) continue;
      const { kind, from, ...index } = this.#counted(name, who);
      const bounds = from === undefined ? {} : { from };
      const used = await writer.count({ kind, index: index[scope], ...bounds });
      if (used < limit) continue;
      const query = { kind, index: index[scope], ...bounds, ascending: true, limit: 1 };
      const [oldest] = from === undefined ? [] : await writer.records(query);
      throw this.#exceeded({ name, scope, limit }, oldest?.sort);
    }
  }

  /** Counts bytes that are about to be kept; throws `quota` when they are too many. */
  async store(writer: StoreWriter, who: Who, bytes: number): Promise<void> {
    await this.checkBytes(writer, who, bytes);
    await this.count(writer, who, bytes);
  }

  /** The same without a limit, for what was stored elsewhere before. */
  async count(writer: StoreWriter, who: Who, bytes: number): Promise<void> {
    for (const scope of ['principal', 'tenant'] as const) {
      await this.#setSum(writer, scope, who, (await this.#sum(writer, scope, who)) + bytes);
    }
  }

  /** Puts what is stored in place of the sums with these keys, where nobody can tell whose it was that went. */
  async recount(
    writer: StoreWriter,
    sums: readonly string[],
    all: readonly Stored[],
  ): Promise<void> {
    for (const key of sums) await writer.deleteRecord({ kind: sumKind, key });
    for (const { bytes, ...who } of all) await this.count(writer, who, bytes);
  }

  /** Throws `quota` when so many bytes more would be too many. */
  async checkBytes(writer: StoreWriter, who: Who, bytes: number): Promise<void> {
    const limits = await this.#limits(writer, who.tenant);
    for (const scope of ['principal', 'tenant'] as const) {
      const limit = limits[scope].bytes;
      if (limit !== undefined && (await this.#sum(writer, scope, who)) + bytes > limit) {
        throw this.#exceeded({ name: 'bytes', scope, limit });
      }
    }
  }

  async release(writer: StoreWriter, stored: readonly Stored[]): Promise<void> {
    for (const each of stored) {
      for (const scope of ['principal', 'tenant'] as const) {
        const left = (await this.#sum(writer, scope, each)) - each.bytes;
        await this.#setSum(writer, scope, each, Math.max(left, 0));
      }
    }
  }

  /** For operators of the tenant. */
  async show(by: Principal, principal?: string): Promise<QuotaReport> {
    this.#authorize(by);
    const id = principal === undefined ? undefined : parse(foreignId, principal, 'principal');
    return this.#deps.store.read(async (reader) => {
      const who = { tenant: by.tenant, id: id ?? '' };
      const tenant = await this.#used(reader, 'tenant', who);
      const own = id === undefined ? undefined : await this.#used(reader, 'principal', who);
      return {
        limits: await this.#limits(reader, by.tenant),
        used: own === undefined ? { tenant } : { tenant, principal: own },
      };
    });
  }

  /** What is left out has no limit from then on. */
  async set(by: Principal, given: Limits): Promise<void> {
    this.#authorize(by);
    const limits = parse(quotasSchema, given, 'quotas');
    const { store, vault } = this.#deps;
    await store.write(async (writer) => {
      await quotaRecords.put(writer, vault.domain, {
        key: vault.blind('quota', by.tenant),
        index: {},
        shape: limits,
        content: {},
      });
    });
  }

  #authorize(by: Principal): void {
    authorize(by, 'administer', { tenant: by.tenant }, () => notFound('list', 'quotas'));
  }

  /** Read once for each reader: one sees one moment. */
  async #limits(reader: StoreReader, tenant: string): Promise<Limits> {
    const { vault, quotas } = this.#deps;
    const known = this.#known.get(reader);
    if (known?.tenant === tenant) return known.limits;
    const key = vault.blind('quota', tenant);
    const limits = (await quotaRecords.get(reader, vault.domain, key))?.shape ?? quotas;
    this.#known.set(reader, { tenant, limits });
    return limits;
  }

  async #used(
    reader: StoreReader,
    scope: 'principal' | 'tenant',
    who: Who,
  ): Promise<Partial<Record<QuotaName, number>>> {
    const used: Partial<Record<QuotaName, number>> = {
      bytes: await this.#sum(reader, scope, who),
    };
    for (const name of quotaNames) {
      if (name === 'bytes') continue;
      const { kind, from, ...index } = this.#counted(name, who);
      const bounds = from === undefined ? {} : { from };
      used[name] = await reader.count({ kind, index: index[scope], ...bounds });
    }
    return used;
  }

  #counted(name: Exclude<QuotaName, 'bytes'>, who: Who): Counted {
    const principal: Principal = { ...who, role: 'caller' };
    const { vault, now } = this.#deps;
    const mine = vault.blind('principal', who.tenant, who.id);
    const ours = vault.blind('tenant', who.tenant);
    switch (name) {
      case 'contexts':
        return { kind: contextRecords.kind, ...this.#contexts.countedBy(principal) };
      case 'messagesPerMinute':
        return {
          kind: messageRecords.kind,
          ...this.#messages.countedBy(principal),
          from: now().getTime() - minuteMs + 1,
        };
      case 'openTasks':
        return { kind: taskKind, ...this.#tasks.countedBy(principal) };
      case 'grants':
        return {
          kind: grantRecords.kind,
          principal: { giver: mine },
          tenant: { tenant: ours },
        };
      case 'keys':
        return { kind: keyRecords.kind, principal: { holder: mine }, tenant: { valid: ours } };
      default:
        return name satisfies never;
    }
  }

  async #sum(reader: StoreReader, scope: 'principal' | 'tenant', who: Who): Promise<number> {
    const key = this.#sumKey(scope, who);
    return (await sumRecords.get(reader, this.#deps.vault.domain, key))?.shape.bytes ?? 0;
  }

  async #setSum(writer: StoreWriter, scope: 'principal' | 'tenant', who: Who, bytes: number) {
    const key = this.#sumKey(scope, who);
    const record = { key, index: {}, shape: { bytes }, content: {} };
    await sumRecords.put(writer, this.#deps.vault.domain, record);
  }

  #sumKey(scope: 'principal' | 'tenant', { tenant, id }: Who): string {
    const { vault } = this.#deps;
    return scope === 'tenant' ? vault.blind('usage', tenant) : vault.blind('usage', tenant, id);
  }

  #exceeded(
    of: { name: keyof QuotaLimits; scope: 'principal' | 'tenant'; limit: number },
    oldest?: number,
  ): ThroughlineError {
    const { name, scope, limit } = of;
    measure('throughline.quota.refusals', 1, { quota: name });
    const waitMs =
      oldest === undefined ? undefined : oldest + minuteMs - this.#deps.now().getTime();
    const advice =
      waitMs === undefined ? 'end or remove what is no longer needed' : 'send again later';
    return new ThroughlineError(
      'quota',
      `${name}: the ${scope === 'tenant' ? 'tenant' : 'principal'} has its ${limit} already; ${advice}, or ask an operator for more`,
      {
        details: {
          quota: name,
          scope,
          limit,
          ...(waitMs === undefined
            ? {}
            : { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) }),
        },
        retryable: waitMs !== undefined,
      },
    );
  }
}
