import { z } from 'zod';
import { foreignId, type Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Guarded } from './authorize.ts';
import { guarded, type Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import { Records, type Kept } from './records.ts';

const shapeSchema = z.object({
  /** Our id of the context that its initial Dialog goes by, when it is kept here. */
  ref: z.string().optional(),
  openedAt: z.int(),
  updatedAt: z.int(),
});
const contentSchema = z.object({ tenant: foreignId, owner: foreignId });
const caseRecords = new Records('case', shapeSchema, contentSchema);
export type CaseRecord = Kept<z.infer<typeof shapeSchema>, z.infer<typeof contentSchema>>;

/** Who a case belongs to; one record for each Activity, its sort the number of its last change. */
export class Cases {
  readonly #deps: Deps;
  readonly #contexts: Contexts;

  constructor(deps: Deps, contexts: Contexts) {
    this.#deps = deps;
    this.#contexts = contexts;
  }

  async get(reader: StoreReader, activity: string): Promise<CaseRecord | undefined> {
    const box = await this.#deps.vault.caseBox(reader, activity);
    return caseRecords.get(reader, () => box, activity);
  }

  find(
    reader: StoreReader,
    query: { index: Record<string, string>; limit: number; after?: { sort: number; key: string } },
  ): Promise<CaseRecord[]> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    return caseRecords.find(reader, ({ key }) => boxes.of(key), query);
  }

  /** For rights to the case, or to something in it that began at `since`. */
  async guardOf(
    reader: StoreReader,
    principal: Principal,
    record: CaseRecord,
  ): Promise<{ guard: Guarded; grantedFrom: number | undefined } | undefined> {
    const { content, shape } = record;
    if (content === undefined) return undefined;
    const context =
      shape.ref === undefined
        ? undefined
        : await this.#contexts.byRef(reader, principal, shape.ref);
    const granted = context === undefined ? undefined : guarded(context).granted;
    return {
      guard: { ...content, ...(granted === undefined ? {} : { granted }) },
      grantedFrom: context?.granted.get('get'),
    };
  }

  /** Opens the record of a new case, or moves that of a known one. */
  async touch(
    writer: StoreWriter,
    activity: string,
    seq: number,
    opened: { tenant: string; owner: string; ref?: string | undefined },
  ): Promise<void> {
    const { vault, now } = this.#deps;
    const at = now().getTime();
    const known = await this.get(writer, activity);
    const { tenant, owner, ref } = opened;
    const content = known?.content ?? { tenant, owner };
    const kept = known?.shape.ref ?? ref;
    await caseRecords.put(writer, await vault.caseBoxFor(writer, activity), {
      key: activity,
      sort: seq,
      index: {
        owner: vault.blind('principal', content.tenant, content.owner),
        tenant: vault.blind('tenant', content.tenant),
        ...(kept === undefined ? {} : { context: kept }),
      },
      activity,
      shape: {
        openedAt: known?.shape.openedAt ?? at,
        updatedAt: at,
        ...(kept === undefined ? {} : { ref: kept }),
      },
      content,
    });
  }
}
