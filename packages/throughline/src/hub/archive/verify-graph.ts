import { isDeepStrictEqual } from 'node:util';
import { ThroughlineError } from '../../errors.ts';
import {
  openMemoryStore,
  type Store,
  type StoredEdge,
  type StoredObject,
  type StoreReader,
} from '../../store/index.ts';
import { CaseBoxes } from '../case-boxes.ts';
import type { Deps } from '../deps.ts';
import { scopeOf } from '../graph-codec.ts';
import { Recorder } from '../recorder.ts';
import { Vault } from '../vault.ts';
import { entryLine } from './entry-line.ts';
import { takenFrom } from './entry-taken.ts';

const page = 500;
const keyBytes = 32;

interface Comparing {
  /** Entries up to here. */
  readonly head: number;
  /** An empty store. Default: one in memory. */
  readonly scratch?: (() => Promise<Store>) | undefined;
  readonly onProgress?: ((step: string, done: number) => void) | undefined;
  readonly find: (finding: { readonly id: string; readonly problem: string }) => void;
}

/** Objects and relationships are what the log makes of them, folded once more into a store of its own. */
export async function compareGraph(deps: Deps, comparing: Comparing): Promise<void> {
  const scratch = await (comparing.scratch ?? openMemoryStore)();
  try {
    const vault = new Vault(deps.vault.random(keyBytes));
    await fold(deps, { ...deps, store: scratch, vault }, comparing);
    await compare(deps, { store: scratch, vault }, comparing);
  } finally {
    await scratch.close();
  }
}

async function fold(from: Deps, into: Deps, { head, onProgress }: Comparing): Promise<void> {
  for (let after = 0; after < head;) {
    const place = after;
    const lines = await from.store.read(async (reader) => {
      const boxes = new CaseBoxes(from.vault, reader);
      const entries = await reader.log({ after: place, limit: Math.min(page, head - place) });
      const read = { reader, boxes, shapeOnly: false };
      const found = [];
      for (const entry of entries) found.push(await entryLine(from, read, entry));
      return found;
    });
    await into.store.write(async (writer) => {
      const recorder = await Recorder.start(into, writer);
      for (const [i, line] of lines.entries()) {
        const taken = takenFrom(line);
        if (taken === undefined) {
          throw new ThroughlineError(
            'newer-version',
            `${line.id} (entry ${place + 1 + i}) says what this program does not know; use a newer one`,
          );
        }
        await recorder.take(taken);
      }
      await recorder.flush();
    });
    after = place + lines.length;
    onProgress?.('folded', after);
  }
}

async function compare(
  { store, vault }: Deps,
  scratch: Pick<Deps, 'store' | 'vault'>,
  { head, find }: Comparing,
): Promise<void> {
  const end = (await store.read((reader) => reader.head())).seq;
  for await (const rows of graphOf(store)) {
    for (const { id, seq } of rows) {
      if (seq > end) find({ id, problem: 'is ahead of the log: entries are missing' });
    }
    // But for what was changed while this ran.
    const settled = rows.filter(({ seq }) => seq <= head);
    const here = await store.read((reader) => allOpened(vault, reader, settled));
    const there = await scratch.store.read(async (reader) =>
      allOpened(scratch.vault, reader, await sameRows(reader, settled)),
    );
    for (const [id, row] of here) {
      const problem = differenceOf(row, there.get(id));
      if (problem !== undefined) find({ id, problem });
    }
  }
  for await (const rows of graphOf(scratch.store)) {
    const here = await store.read((reader) => sameRows(reader, rows));
    const known = new Set(here.map(({ id }) => id));
    for (const { id } of rows) {
      if (!known.has(id)) find({ id, problem: 'is in the log and nowhere else' });
    }
  }
}

type GraphRow = StoredObject | StoredEdge;

interface Opened {
  /** All but what is sealed. */
  readonly bare: Omit<GraphRow, 'sealed'>;
  /** Undefined where nothing was written, or it can't be read. */
  readonly content: unknown;
  readonly hasKey: boolean;
  /** Is sealed, and does not open. */
  readonly isShut: boolean;
}

async function opened(boxes: CaseBoxes, row: GraphRow): Promise<Opened> {
  const { sealed, ...bare } = row;
  const box = await boxes.of(scopeOf(row.id, row.activity));
  const label = `${'kind' in row ? 'object' : 'edge'}/${row.id}`;
  const isShut = sealed !== undefined && box?.opens(label, sealed) !== true;
  const content = isShut || sealed === undefined ? undefined : box?.open(label, sealed);
  return { bare, content, hasKey: box !== undefined, isShut };
}

function differenceOf(here: Opened, there: Opened | undefined): string | undefined {
  if (there === undefined) return 'is nowhere in the log';
  // Without words, an entry that changed nothing but words can't be told from one that changed nothing.
  const last = here.hasKey ? here.bare.seq : there.bare.seq;
  const isSame = isDeepStrictEqual(here.bare, { ...there.bare, seq: here.bare.seq });
  if (!isSame || last !== there.bare.seq) return 'is not what the log makes of it';
  if (here.isShut) return 'is sealed, and does not open under its key';
  const isErased = here.content === undefined && !here.hasKey;
  return isErased || isDeepStrictEqual(here.content, there.content)
    ? undefined
    : 'holds other words than the log';
}

async function allOpened(
  vault: Vault,
  reader: StoreReader,
  rows: readonly GraphRow[],
): Promise<ReadonlyMap<string, Opened>> {
  const boxes = new CaseBoxes(vault, reader);
  const found = new Map<string, Opened>();
  for (const row of rows) found.set(row.id, await opened(boxes, row));
  return found;
}

async function* graphOf(store: Store): AsyncGenerator<GraphRow[]> {
  for (let after: string | undefined, isEnd = false; !isEnd;) {
    const query = { limit: page, ...(after === undefined ? {} : { after }) };
    const found = await store.read((reader) => reader.scan(query));
    yield found.rows.flatMap((row) =>
      'object' in row ? row.object : 'edge' in row ? row.edge : [],
    );
    after = found.next;
    isEnd = after === undefined;
  }
}

async function sameRows(reader: StoreReader, rows: readonly GraphRow[]): Promise<GraphRow[]> {
  const [objects, edges] = [
    rows.filter((row) => 'kind' in row),
    rows.filter((row) => 'from' in row),
  ];
  const found: GraphRow[] = [...(await reader.objects(objects.map(({ id }) => id)))];
  for (const { id } of edges) {
    const edge = await reader.edge(id);
    if (edge !== undefined) found.push(edge);
  }
  return found;
}
