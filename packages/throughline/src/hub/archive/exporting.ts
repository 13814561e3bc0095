import { createHash } from 'node:crypto';
import type { Principal } from '../../model/index.ts';
import type { StoredLogEntry, StoreReader } from '../../store/index.ts';
import { authorize } from '../authorize.ts';
import type { CaseAccess } from '../case-access.ts';
import { CaseBoxes } from '../case-boxes.ts';
import { caseRecords } from '../case-records.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../refusals.ts';
import { entryLine, participantsIn } from './entry-line.ts';
import { exportFormat, exportVersion, type Header, type Line } from './lines.ts';
import { ParticipantLines } from './participant-lines.ts';
import { recordLines, type RecordParts } from './record-lines.ts';

/** Entries, and likewise cases, that are read in one moment. */
const page = 500;

export interface ExportOptions {
  /** Without what people wrote. */
  readonly shapeOnly?: boolean;
}

export type ExportParts = RecordParts & { readonly access: CaseAccess };

/** What is to be exported, and for whom. */
interface Plan {
  readonly of: Header['of'];
  readonly by: Principal;
  readonly activities: readonly string[];
  /** Entries up to here: what is recorded meanwhile is left out. */
  readonly head: number;
  readonly shapeOnly: boolean;
}

/**
 * Cases as lines of JSON, decrypted: the log of each with its hashes, and what was kept beside it. Rights,
 * keys and idempotency keys stay here: whoever imports gives rights anew.
 */
export class Exporting {
  readonly #deps: Deps;
  readonly #parts: ExportParts;

  constructor(deps: Deps, parts: ExportParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** One case, for its owner and for operators of its tenant. */
  async case(
    by: Principal,
    id: string,
    { shapeOnly = false }: ExportOptions = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const { activity, head } = await this.#deps.store.read(async (reader) => ({
      ...(await this.#parts.access.open(reader, by, id, 'manage')),
      head: (await reader.head()).seq,
    }));
    return this.#bytes({ of: 'case', by, activities: [activity], head, shapeOnly });
  }

  /** All cases of an operator's tenant. */
  async tenant(
    by: Principal,
    { shapeOnly = false }: ExportOptions = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    authorize(by, 'administer', { tenant: by.tenant }, () => notFound('export', 'cases'));
    const { store, vault } = this.#deps;
    const head = (await store.read((reader) => reader.head())).seq;
    const activities = new Set<string>();
    const query = {
      kind: caseRecords.kind,
      index: { tenant: vault.blind('tenant', by.tenant) },
      ascending: true,
      limit: page,
    };
    for (let after: { sort: number; key: string } | undefined, isEnd = false; !isEnd;) {
      const place = after;
      const found = await store.read((reader) =>
        reader.records({ ...query, ...(place && { after: place }) }),
      );
      for (const { key } of found) activities.add(key);
      after = found.at(-1);
      isEnd = found.length < page;
    }
    const plan = { of: 'tenant', by, head, shapeOnly } as const;
    return this.#bytes({ ...plan, activities: [...activities].toSorted() });
  }

  async *#bytes(plan: Plan): AsyncGenerator<Uint8Array> {
    const digest = createHash('sha256');
    let lines = 0;
    const encode = (value: object): Uint8Array => {
      const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
      digest.update(bytes);
      lines += 1;
      return bytes;
    };
    const holds = plan.shapeOnly ? 'shape' : 'content';
    yield encode({ format: exportFormat, version: exportVersion, of: plan.of, holds });
    for await (const line of this.#lines(plan)) yield encode(line);
    yield encode({ kind: 'end', lines, digest: digest.copy().digest('hex') });
  }

  async *#lines(plan: Plan): AsyncGenerator<Line> {
    const participants = new ParticipantLines(this.#deps, this.#parts, plan.by.tenant);
    const entries = plan.of === 'case' ? this.#ofCase(plan) : this.#ofTenant(plan);
    for await (const line of entries) {
      participants.note(line);
      yield line;
    }
    for (const activity of plan.activities) {
      for await (const line of recordLines(this.#deps, this.#parts, { ...plan, activity })) {
        participants.note(line);
        yield line;
      }
    }
    if (!plan.shapeOnly) yield* participants.lines();
  }

  /** In the order of their numbers, so that each is folded after what it rests on. */
  async *#ofTenant(plan: Plan): AsyncGenerator<Line> {
    const { tenant } = plan.by;
    const { participants } = this.#parts.registries;
    const cases = new Set(plan.activities);
    for (let after = 0; after < plan.head;) {
      const from = after;
      const found = await this.#deps.store.read(async (reader) => {
        const entries: StoredLogEntry[] = [];
        const all = await reader.log({ after: from, limit: Math.min(page, plan.head - from) });
        for (const entry of all) {
          const isWanted =
            entry.activity === undefined
              ? await participants.isOf(reader, tenant, entry.about)
              : cases.has(entry.activity);
          if (isWanted) entries.push(entry);
        }
        return {
          last: all.at(-1)?.seq ?? plan.head,
          lines: await this.#open(reader, plan, entries),
        };
      });
      after = found.last;
      yield* found.lines;
    }
  }

  /** Those of a case, and between them those of its participants. */
  async *#ofCase(plan: Plan): AsyncGenerator<Line> {
    const [activity = ''] = plan.activities;
    const others = await this.#introductions(plan, activity);
    for (let after = 0, isEnd = false; !isEnd;) {
      const from = after;
      const found = await this.#deps.store.read(async (reader) => {
        const all = await reader.log({ activity, after: from, limit: page });
        const own = all.filter(({ seq }) => seq <= plan.head);
        const last = own.length < page ? plan.head : (own.at(-1)?.seq ?? plan.head);
        const entries = [...own, ...others.filter(({ seq }) => seq > from && seq <= last)].toSorted(
          (a, b) => a.seq - b.seq,
        );
        return { last, lines: await this.#open(reader, plan, entries) };
      });
      after = found.last;
      isEnd = after >= plan.head;
      yield* found.lines;
    }
  }

  /** What is said of the participants of a case, by itself. */
  async #introductions(plan: Plan, activity: string): Promise<StoredLogEntry[]> {
    const ids = new Set<string>();
    for (let after = 0, isEnd = false; !isEnd;) {
      const from = after;
      const found = await this.#deps.store.read((reader) =>
        reader.log({ activity, after: from, limit: page }),
      );
      for (const { shape } of found) for (const id of participantsIn(shape)) ids.add(id);
      after = found.at(-1)?.seq ?? 0;
      isEnd = found.length < page;
    }
    const said: StoredLogEntry[] = [];
    for (const about of ids) {
      const found = await this.#deps.store.read((reader) =>
        reader.log({ about, after: 0, limit: page }),
      );
      said.push(...found.filter((entry) => entry.activity === undefined && entry.seq <= plan.head));
    }
    return said;
  }

  async #open(
    reader: StoreReader,
    { shapeOnly }: Plan,
    entries: readonly StoredLogEntry[],
  ): Promise<Line[]> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    const lines: Line[] = [];
    for (const entry of entries) {
      lines.push(await entryLine(this.#deps, { reader, boxes, shapeOnly }, entry));
    }
    return lines;
  }
}
