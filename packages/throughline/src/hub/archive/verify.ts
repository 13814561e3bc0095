import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { idKind } from '../../model/index.ts';
import {
  chainHash,
  genesis,
  type Store,
  type StoredLogEntry,
  type StoredRecord,
} from '../../store/index.ts';
import { CaseBoxes } from '../case-boxes.ts';
import type { ContentObjects } from '../content-objects.ts';
import { contentNotes, findNote, placeOf, type ContentNote } from '../content-records.ts';
import type { Deps } from '../deps.ts';
import { scopeOf } from '../graph-codec.ts';
import { caseKeyKind, digestOf, type KeyBox } from '../vault.ts';
import { bytesOf } from './content-lines.ts';
import { compareGraph } from './verify-graph.ts';

const page = 500;
/** Findings that are told; there may be more. */
const mostFindings = 100;

export interface Finding {
  /** What it is about: an entry, an object, a relationship, a record (`kind/key`). */
  readonly id: string;
  /** Number of the entry. */
  readonly seq?: number;
  readonly problem: string;
}

export interface Verification {
  readonly entries: number;
  readonly rows: number;
  /** Whether objects and relationships were compared with the log: not where the log itself is broken. */
  readonly compared: boolean;
  /** The first ones, those of the log before all others. */
  readonly findings: readonly Finding[];
}

/** Where bytes lie that are not in the store. */
export interface VerifyParts {
  readonly objects: ContentObjects;
}

/** An entry that the log was once seen to end with, from a place that does not lie beside it. */
export interface Anchor {
  readonly seq: number;
  readonly hash: string;
  /** Where that is told. */
  readonly from: string;
}

export interface VerifyOptions {
  /** A log that was cut off at its end, with all that hangs on it, is whole in itself: these tell. */
  readonly anchors?: readonly Anchor[];
  /** An empty store that the log is folded into once more. Default: one in memory. */
  readonly scratch?: () => Promise<Store>;
  readonly onProgress?: (step: string, done: number) => void;
}

/** Sealed under keys of their own, which are looked at with what names them. */
const sealedElsewhere: ReadonlySet<string> = new Set([caseKeyKind, 'content-sealed']);
const committed = z.looseObject({ commitment: z.string().optional() });

/** Looks at everything that a store holds, and writes nothing to it. */
export class Verifying {
  readonly #deps: Deps;
  readonly #objects: ContentObjects;
  readonly #options: VerifyOptions;
  readonly #findings: Finding[] = [];
  /** About bytes that lie elsewhere, which the graph does not rest on. */
  readonly #lost: Finding[] = [];

  constructor(deps: Deps, { objects }: VerifyParts, options: VerifyOptions) {
    this.#objects = objects;
    this.#deps = deps;
    this.#options = options;
  }

  async run(): Promise<Verification> {
    const { store } = this.#deps;
    const head = (await store.read((reader) => reader.head())).seq;
    const isWhole = await this.#log(head);
    const rows = await this.#rows();
    const compared = isWhole && this.#findings.length === 0;
    if (compared) {
      const { scratch, onProgress } = this.#options;
      const find = (finding: Finding): void => this.#find(finding);
      await compareGraph(this.#deps, { head, scratch, onProgress, find });
    }
    for (const anchor of this.#options.anchors ?? []) await this.#anchor(anchor);
    const findings = [...this.#findings, ...this.#lost].slice(0, mostFindings);
    return { entries: head, rows, compared, findings };
  }

  #find(finding: Finding, among = this.#findings): void {
    if (among.length < mostFindings) among.push(finding);
  }

  async #anchor({ seq, hash, from }: Anchor): Promise<void> {
    if (seq === 0) return;
    const entry = await entryAt(this.#deps, seq);
    if (entry?.hash === hash) return;
    const problem =
      entry === undefined
        ? `is missing, and ${from} tells of it: the log was cut off, or is an older one`
        : `is not the one that ${from} tells of`;
    this.#find({ id: entry?.id ?? `entry ${seq}`, seq, problem });
  }

  /** Each entry follows from the one before, and what it commits to is what is sealed beside it. */
  async #log(head: number): Promise<boolean> {
    let previous: string | undefined = genesis;
    for (let after = 0; after < head;) {
      const [from, before]: [number, string | undefined] = [after, previous];
      const found: { last: StoredLogEntry | undefined; hash: string | undefined } =
        await this.#deps.store.read(async (reader) => {
          const entries = await reader.log({ after: from, limit: Math.min(page, head - from) });
          const boxes = new CaseBoxes(this.#deps.vault, reader);
          for (const entry of entries) await this.#content(boxes, entry);
          return { last: entries.at(-1), hash: before && this.#chain(entries, from, before) };
        });
      previous = found.hash;
      if (found.last === undefined) {
        this.#find({ id: `entry ${from + 1}`, seq: from + 1, problem: 'is missing' });
        return false;
      }
      after = found.last.seq;
      this.#options.onProgress?.('entries', after);
    }
    return previous !== undefined;
  }

  /** The hash of the last; undefined from the first on that does not follow. */
  #chain(entries: readonly StoredLogEntry[], after: number, before: string): string | undefined {
    let [previous, seq] = [before, after];
    for (const entry of entries) {
      seq += 1;
      if (entry.seq !== seq) {
        this.#find({ id: `entry ${seq}`, seq, problem: 'is missing' });
        return undefined;
      }
      if (entry.hash !== chainHash(previous, entry)) {
        this.#find({
          id: entry.id,
          seq,
          problem: 'does not follow from the entry before: one of the two was changed or moved',
        });
        return undefined;
      }
      previous = entry.hash;
    }
    return previous;
  }

  async #content(boxes: CaseBoxes, entry: StoredLogEntry): Promise<void> {
    const { id, seq, about, activity, sealed } = entry;
    const { commitment } = committed.parse(entry.shape);
    const scope = scopeOf(about, activity);
    const box = await this.#box(boxes, scope);
    // Of one that was forgotten, and perhaps met again, the key is gone, and that is as it should be.
    const mayBeGone = idKind(scope) === 'participant';
    if (sealed !== undefined) {
      if (mayBeGone && box?.opens(`log/${id}`, sealed) !== true) return;
      const problem = problemOf(box, `log/${id}`, sealed, commitment);
      if (problem !== undefined) this.#find({ id, seq, problem });
    } else if (commitment !== undefined && box !== undefined && !mayBeGone) {
      this.#find({
        id,
        seq,
        problem: 'commits to what is not there, in a case that was not erased',
      });
    }
  }

  /** What is beside the log opens under its keys. */
  async #rows(): Promise<number> {
    let rows = 0;
    for (let after: string | undefined, isEnd = false; !isEnd;) {
      const query = { limit: page, ...(after === undefined ? {} : { after }) };
      const found = await this.#deps.store.read(async (reader) => {
        const { rows: all, next } = await reader.scan(query);
        const boxes = new CaseBoxes(this.#deps.vault, reader);
        const notes: ContentNote[] = [];
        for (const row of all) {
          if (!('record' in row) || !(await this.#record(boxes, row.record))) continue;
          if (row.record.kind !== contentNotes.kind) continue;
          notes.push(contentNotes.open(row.record, await boxes.for(row.record)));
        }
        return { next, count: all.length, notes };
      });
      for (const note of found.notes) await this.#bytes(note);
      rows += found.count;
      after = found.next;
      isEnd = after === undefined;
      this.#options.onProgress?.('rows', rows);
    }
    return rows;
  }

  /** Offloaded content is what was put there, as long as it is kept. */
  async #bytes(note: ContentNote): Promise<void> {
    if (placeOf(note) === undefined) return;
    const id = `${contentNotes.kind}/${note.key}`;
    try {
      const bytes = await bytesOf(this.#deps, this.#objects, note);
      if (bytes === undefined) {
        const now = await this.#deps.store.read((reader) => findNote(this.#deps, reader, note.key));
        // Erased between the two looks, it is no damage.
        if (now === undefined || placeOf(now) === undefined) return;
        this.#find({ id, problem: 'its bytes are missing' }, this.#lost);
      } else if (digestOf(bytes) !== note.shape.digest) {
        this.#find({ id, problem: 'its bytes are not those of its digest' }, this.#lost);
      }
    } catch (error) {
      this.#find({ id, problem: messageOf(error) }, this.#lost);
    }
  }

  /** False where it does not open. */
  async #record(boxes: CaseBoxes, { kind, key, activity, sealed }: StoredRecord): Promise<boolean> {
    const id = `${kind}/${key}`;
    if (kind === caseKeyKind) await this.#box(boxes, key);
    if (sealed === undefined || sealedElsewhere.has(kind)) return true;
    const box = activity === undefined ? this.#deps.vault.domain : await this.#box(boxes, activity);
    const problem = problemOf(box, id, sealed);
    if (problem !== undefined) this.#find({ id, problem });
    return problem === undefined;
  }

  async #box(boxes: CaseBoxes, scope: string): Promise<KeyBox | undefined> {
    try {
      return await boxes.of(scope);
    } catch (error) {
      this.#find({ id: `${caseKeyKind}/${scope}`, problem: messageOf(error) });
      return undefined;
    }
  }
}

/** The entry with a number, counted from 1. */
export async function entryAt({ store }: Deps, seq: number): Promise<StoredLogEntry | undefined> {
  const [entry] = await store.read((reader) => reader.log({ after: seq - 1, limit: 1 }));
  return entry;
}

function problemOf(
  box: KeyBox | undefined,
  label: string,
  sealed: Uint8Array,
  commitment?: string,
): string | undefined {
  if (box === undefined) return 'is sealed, and there is no key for it';
  try {
    if (commitment === undefined) box.openBytes(label, sealed);
    else box.open(label, sealed, commitment);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const messageOf = (error: unknown): string =>
  error instanceof ThroughlineError ? error.message : String(error);
