import { z } from 'zod';
import { foreignId, idKind, type Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { Guarded } from './authorize.ts';
import type { Deps } from './deps.ts';
import { grantsTo, type Granted } from './grant-records.ts';
import { nowhere, Records } from './records.ts';

export const contextRecords = new Records(
  'context',
  z.object({ expires: z.int() }),
  z.object({
    tenant: foreignId,
    owner: foreignId,
    agent: foreignId,
    /** What its owner calls it: the issued id, or the one that the owner brought. */
    contextId: foreignId,
  }),
);
const adoptedRecords = new Records('adopted', z.object({ ref: z.string() }), z.object({}));

type Index = Readonly<Record<string, string>>;

/** A context as one principal stands to it. */
export interface Context {
  /** Our own id of it: the issued contextId, or the handle behind an adopted one. */
  readonly ref: string;
  readonly tenant: string;
  readonly owner: string;
  readonly agent: string;
  readonly contextId: string;
  readonly expired: boolean;
  readonly granted: Granted;
}

/** What a principal calls a context: its owner by the owner's name for it, all others by ours. */
export const nameFor = (context: Context, principalId: string): string =>
  context.owner === principalId ? context.contextId : context.ref;

/** For rights to the context itself, or to something in it that began at `since`. */
export function guarded(context: Context, since?: number): Guarded {
  const { tenant, owner, granted } = context;
  const operations = [...granted].filter(([, from]) => since === undefined || from <= since);
  return { tenant, owner, granted: operations.map(([operation]) => operation) };
}

/** The registry of contexts: who opened which, until when, under which name. */
export class Contexts {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * The context that this principal means by a contextId. Says nothing of rights. Reads the store
   * as often whatever the answer, so that an answer's time tells nothing either.
   */
  async lookup(
    reader: StoreReader,
    principal: Principal,
    contextId: string,
  ): Promise<Context | undefined> {
    const key = this.#alias(principal, contextId);
    const alias = await adoptedRecords.get(reader, this.#deps.vault.domain, key);
    return this.byRef(reader, principal, alias?.shape.ref ?? contextId);
  }

  async byRef(
    reader: StoreReader,
    principal: Principal,
    ref: string | undefined,
  ): Promise<Context | undefined> {
    return this.#read(reader, principal, ref ?? nowhere);
  }

  async #read(
    reader: StoreReader,
    principal: Principal,
    ref: string,
  ): Promise<Context | undefined> {
    const { vault, now } = this.#deps;
    const key = vault.caseBox(reader, ref);
    const [found, box] = await Promise.all([contextRecords.get(reader, () => key, ref), key]);
    const at = now().getTime();
    const granted = await grantsTo(reader, { vault, box, principal, ref, at });
    if (found?.content === undefined || found.content.tenant !== principal.tenant) return undefined;
    return { ref, ...found.content, expired: found.shape.expires <= at, granted };
  }

  /** Opens a context under an id of ours. */
  async issue(writer: StoreWriter, owner: Principal, agent: string): Promise<Context> {
    const ref = this.#deps.ids.make('context');
    return this.#write(writer, owner, agent, ref, ref);
  }

  /**
   * Whether this id may be taken from a client: never one that looks like ours, and never one that
   * the client brought before, even if what it named is gone.
   */
  async adoptable(reader: StoreReader, principal: Principal, contextId: string): Promise<boolean> {
    if (this.#deps.terms.contextPolicy !== 'adopt' || idKind(contextId) === 'context') return false;
    const key = this.#alias(principal, contextId);
    return (await reader.record({ kind: adoptedRecords.kind, key })) === undefined;
  }

  #alias(principal: Principal, contextId: string): string {
    return this.#deps.vault.blind('adopted', principal.tenant, principal.id, contextId);
  }

  /** Opens a context under an id that its owner brought; it resolves for that owner alone. */
  async adopt(
    writer: StoreWriter,
    owner: Principal,
    agent: string,
    contextId: string,
  ): Promise<Context> {
    const { vault, ids } = this.#deps;
    const ref = ids.make('context');
    await adoptedRecords.put(writer, vault.domain, {
      key: this.#alias(owner, contextId),
      index: { context: ref },
      shape: { ref },
      content: {},
      expected: 0,
    });
    return this.#write(writer, owner, agent, ref, contextId);
  }

  /** Opens one that has its id and its time already; one that is here stays as it is. */
  async restore(
    writer: StoreWriter,
    context: Omit<Context, 'expired' | 'granted'> & { readonly expires: number },
  ): Promise<void> {
    const { ref, tenant, owner, agent, contextId, expires } = context;
    if ((await writer.record({ kind: contextRecords.kind, key: ref })) !== undefined) return;
    const key = this.#alias({ tenant, id: owner, role: 'caller' }, contextId);
    if (contextId !== ref) {
      const kept = { key, index: { context: ref }, shape: { ref }, content: {} };
      await adoptedRecords.put(writer, this.#deps.vault.domain, kept);
    }
    await this.#put(writer, ref, { tenant, owner, agent, contextId }, { expected: 0, expires });
  }

  /** A context lives from its last use on. */
  async renew(writer: StoreWriter, context: Context): Promise<void> {
    const { ref, tenant, owner, agent, contextId } = context;
    await this.#put(writer, ref, { tenant, owner, agent, contextId });
  }

  /** Leaves of a context only that it was there: it is refused from then on, and never given again. */
  async bury(writer: StoreWriter, ref: string): Promise<void> {
    await contextRecords.bury(writer, { key: ref, index: {}, shape: { expires: 0 } });
    await this.#deps.vault.destroy(writer, ref);
  }

  /** Blinded values under which contexts that are not over are counted. */
  countedBy(principal: Principal): { principal: Index; tenant: Index } {
    const { vault } = this.#deps;
    return {
      principal: { owner: vault.blind('principal', principal.tenant, principal.id) },
      tenant: { tenant: vault.blind('tenant', principal.tenant) },
    };
  }

  async #write(
    writer: StoreWriter,
    principal: Principal,
    agent: string,
    ref: string,
    contextId: string,
  ): Promise<Context> {
    const content = { tenant: principal.tenant, owner: principal.id, agent, contextId };
    await this.#put(writer, ref, content, { expected: 0 });
    return { ref, ...content, expired: false, granted: new Map() };
  }

  async #put(
    writer: StoreWriter,
    ref: string,
    content: { tenant: string; owner: string; agent: string; contextId: string },
    given: { expected?: number; expires?: number } = {},
  ): Promise<void> {
    const { vault, now, terms } = this.#deps;
    const { expires = now().getTime() + terms.contextTtlMs, expected } = given;
    const { principal, tenant } = this.countedBy({
      tenant: content.tenant,
      id: content.owner,
      role: 'caller',
    });
    await contextRecords.put(writer, await vault.caseBoxFor(writer, ref), {
      key: ref,
      index: { ...principal, ...tenant },
      activity: ref,
      shape: { expires },
      expiresAt: expires,
      content,
      ...(expected === undefined ? {} : { expected }),
    });
  }
}
