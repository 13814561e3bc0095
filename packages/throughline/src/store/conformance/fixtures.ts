import type { StoreLimits } from '../engine-store.ts';
import type {
  Json,
  LogEntry,
  Store,
  StoredEdge,
  StoredObject,
  StoredRecord,
  StoreWriter,
} from '../store.ts';

/** What each part of the suite is given: the store of the test, and how to open one more. */
export interface Suite {
  readonly store: () => Store;
  readonly open: (limits?: StoreLimits) => Promise<Store>;
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const entry = (id: string, more: Partial<LogEntry> = {}): LogEntry => ({
  id,
  about: 'dlg_1',
  shape: { id },
  ...more,
});

export const object = (
  id: string,
  seq: number,
  more: Partial<StoredObject> = {},
): StoredObject => ({
  id,
  kind: 'dialog',
  shape: {},
  seq,
  ...more,
});

export const edge = (from: string, to: string, more: Partial<StoredEdge> = {}): StoredEdge => ({
  id: `${from}→${to}`,
  type: 'leads-to',
  from,
  to,
  status: 'active',
  shape: {},
  seq: 1,
  ...more,
});

export type NewRecord = Omit<StoredRecord, 'version'>;

export const record = (key: string, more: Partial<NewRecord> = {}): NewRecord => ({
  kind: 'task',
  key,
  sort: 0,
  index: {},
  shape: {},
  ...more,
});

/** Texts that engines are known to trip over. */
export const oddTexts = [
  '',
  ' ',
  '𝒳👩‍👩‍👧',
  'é',
  'é',
  "'; drop table log; --",
  '%_',
  '\u{e000}',
  '\u2028',
];

export const oddShapes: Readonly<Record<string, Json>> = {
  null: null,
  'an empty text': '',
  'an empty object': {},
  'nested lists': [[], [[]], [{ a: [] }]],
  'the largest integers': [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  fractions: [0.1, 1e-7, 5e-324, 1.5],
  'odd texts as values': oddTexts,
  'odd texts as names': Object.fromEntries(oddTexts.map((text) => [text, text])),
  'a megabyte': 'ü'.repeat(524_288),
};

/** What no engine may be asked to keep. */
export const refusedShapes: Readonly<Record<string, unknown>> = {
  'a NUL': 'a\0b',
  'a NUL in a name': { 'a\0b': 1 },
  'a lone surrogate': ['\ud800'],
  'a lone surrogate in a name': { '\udc00': 1 },
  'an integer past 2^53': { n: 2 ** 53 },
  'not a number': Number.NaN,
  infinity: Infinity,
  undefined: { a: undefined },
  'a bigint': 1n,
  'a date': new Date(0),
};

/** Writes without a result. */
export function put(
  store: Store,
  ...steps: ((writer: StoreWriter) => Promise<unknown>)[]
): Promise<void> {
  return store.write(async (writer) => {
    for (const step of steps) await step(writer);
  });
}
