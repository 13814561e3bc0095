import { z } from 'zod';
import { foreignId, type Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Guarded } from './authorize.ts';
import { guarded, type Context, type Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import { nowhere, Records, type Kept } from './records.ts';
import { waitsInCase } from './waiting.ts';

const shapeSchema = z.object({
  /** Our id of the context that its initial Dialog goes by, when it is kept here. */
  ref: z.string().optional(),
  /** All contexts that something in it was said under. */
  refs: z.array(z.string()).default([]),
  openedAt: z.int(),
  updatedAt: z.int(),
  erased: z.boolean().optional(),
});
const contentSchema = z.object({ tenant: foreignId, owner: foreignId });
export const caseRecords = new Records('case', shapeSchema, contentSchema);
export type CaseRecord = Kept<z.infer<typeof shapeSchema>, z.infer<typeof contentSchema>>;

const waitsIndex = 'waits';

/** Whether something in it may be stuck. */
export const mayWait = ({ index }: CaseRecord): boolean => index[waitsIndex] !== undefined;

/** What one principal's rights to a case are told by. */
export interface CaseRights {
  readonly guard: Guarded;
  /** Number from which on a grant shows it. */
  readonly grantedFrom: number | undefined;
  /** The context that the case goes by. */
  readonly context: Context | undefined;
}

/** Who a case belongs to; one record for each Activity, its sort the number of its last change. */
export class Cases {
  readonly #deps: Deps;
  readonly #contexts: Contexts;

  constructor(deps: Deps, contexts: Contexts) {
    this.#deps = deps;
    this.#contexts = contexts;
  }

  async get(reader: StoreReader, activity: string): Promise<CaseRecord | undefined> {
    const box = this.#deps.vault.caseBox(reader, activity);
    const [record] = await Promise.all([caseRecords.get(reader, () => box, activity), box]);
    return record;
  }

  find(
    reader: StoreReader,
    query: { index: Record<string, string>; limit: number; after?: { sort: number; key: string } },
  ): Promise<CaseRecord[]> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    return caseRecords.find(reader, ({ key }) => boxes.of(key), query);
  }

  /** For rights to the case. Reads as much for one that is not there. */
  async guardOf(
    reader: StoreReader,
    principal: Principal,
    record: CaseRecord | undefined,
  ): Promise<CaseRights | undefined> {
    const context = await this.#contexts.byRef(reader, principal, record?.shape.ref ?? nowhere);
    if (record === undefined) return undefined;
    const granted = context === undefined ? undefined : guarded(context).granted;
    return {
      guard: {
        ...(record.content ?? this.#blindGuard(principal, record)),
        ...(granted === undefined ? {} : { granted }),
      },
      grantedFrom: context?.granted.get('get'),
      context,
    };
  }

  /** Of an erased case only blinded values tell whose it was. */
  #blindGuard(principal: Principal, { index }: CaseRecord): Guarded {
    const own = this.#index(principal.tenant, principal.id);
    return {
      tenant: index['tenant'] === own.tenant ? principal.tenant : '',
      ...(index['owner'] === own.owner ? { owner: principal.id } : {}),
    };
  }

  /** By which the cases of a tenant are found in which something may be stuck. */
  waitsIn(tenant: string): Readonly<Record<string, string>> {
    return { [waitsIndex]: this.#deps.vault.blind('tenant', tenant) };
  }

  #index(tenant: string, owner: string): { owner: string; tenant: string } {
    const { vault } = this.#deps;
    return {
      owner: vault.blind('principal', tenant, owner),
      tenant: vault.blind('tenant', tenant),
    };
  }

  /**
   * Opens the record of a new case, or moves that of a known one. The case goes by the context of its
   * initial Dialog alone, and by that only if it is its owner's: any other gives no right to the case.
   */
  async touch(
    writer: StoreWriter,
    activity: string,
    seq: number,
    opened: {
      tenant: string;
      owner: string;
      ref?: string | undefined;
      /** Whether `ref` is a context of the initial Dialog. */
      isInitial?: boolean;
      /** Whether something in it may be stuck, as far as what changed says; absent: nothing changed. */
      waits?: boolean | undefined;
    },
  ): Promise<void> {
    const { vault, now, terms } = this.#deps;
    const at = now().getTime();
    const box = await vault.caseBoxFor(writer, activity);
    const known = await caseRecords.get(writer, box, activity);
    const { tenant, owner, ref, isInitial = false, waits } = opened;
    const content = known?.content ?? { tenant, owner };
    const isOwners = isInitial && content.owner === owner && content.tenant === tenant;
    const kept = known?.shape.ref ?? (isOwners ? ref : undefined);
    const refs = known?.shape.refs ?? [];
    const wasWaiting = known !== undefined && mayWait(known);
    const isWaiting =
      wasWaiting && waits === false ? await waitsInCase(writer, activity) : (waits ?? wasWaiting);
    await caseRecords.put(writer, box, {
      key: activity,
      sort: seq,
      index: {
        ...this.#index(content.tenant, content.owner),
        ...(kept === undefined ? {} : { context: kept }),
        ...(isWaiting ? this.waitsIn(content.tenant) : {}),
      },
      activity,
      expiresAt: terms.historyTtlMs === undefined ? undefined : at + terms.historyTtlMs,
      shape: {
        openedAt: known?.shape.openedAt ?? at,
        updatedAt: at,
        refs: ref === undefined || refs.includes(ref) ? refs : [...refs, ref],
        ...(kept === undefined ? {} : { ref: kept }),
      },
      content,
    });
  }

  /** Has it found among those in which something may be stuck, and changes nothing else. */
  async markWaiting(writer: StoreWriter, activity: string): Promise<void> {
    const record = await writer.record({ kind: caseRecords.kind, key: activity });
    const { tenant } = record?.index ?? {};
    if (record === undefined || tenant === undefined) return;
    const { version: _before, ...kept } = record;
    await writer.putRecord({ ...kept, index: { ...kept.index, [waitsIndex]: tenant } });
  }

  /** Leaves of a case's record whose it was, blinded, and when. */
  async bury(writer: StoreWriter, record: CaseRecord, seq: number): Promise<void> {
    const { owner = '', tenant = '' } = record.index;
    const { openedAt } = record.shape;
    const updatedAt = this.#deps.now().getTime();
    await caseRecords.bury(writer, {
      key: record.key,
      sort: seq,
      index: { owner, tenant },
      shape: { openedAt, updatedAt, refs: [], erased: true },
    });
  }
}
