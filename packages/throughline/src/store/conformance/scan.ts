import { expect, test } from 'vitest';
import type { StoredRow, StoreReader, StoreWriter } from '../store.ts';
import { bytes, edge, object, oddTexts, put, record, type Suite } from './fixtures.ts';

const all = async (reader: StoreReader, limit: number): Promise<StoredRow[]> => {
  const found: StoredRow[] = [];
  for (let after: string | undefined, isEnd = false; !isEnd;) {
    const page = await reader.scan({ limit, ...(after === undefined ? {} : { after }) });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    found.push(...page.rows);
    after = page.next;
    isEnd = after === undefined;
  }
  return found;
};

const nameOf = (row: StoredRow): string =>
  'object' in row
    ? `object ${row.object.id}`
    : 'edge' in row
      ? `edge ${row.edge.id}`
      : `record ${row.record.kind} ${row.record.key}`;

const sorted = (rows: readonly StoredRow[]): StoredRow[] =>
  rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

export function describeScan({ store }: Suite): void {
  const objects = Array.from({ length: 7 }, (_, i) =>
    object(`dlg_${i}`, i, { activity: 'A', sealed: bytes(`o${i}`) }),
  );
  const edges = Array.from({ length: 5 }, (_, i) =>
    edge('x', `y${i}`, { activity: 'A', shape: { i }, sealed: bytes(`e${i}`) }),
  );
  const records = [
    ...Array.from({ length: 6 }, (_, i) => record(`k${i}`, { index: { n: `${i}` }, sort: i })),
    record('k1', { kind: 'grant', activity: 'A', sealed: bytes('r'), expiresAt: 9 }),
    ...[...new Set(oddTexts)].map((text) => record(text, { kind: `odd${text}` })),
  ];
  const fill = (): Promise<void> =>
    put(
      store(),
      ...objects.map((each) => (w: StoreWriter) => w.putObject(each)),
      ...edges.map((each) => (w: StoreWriter) => w.putEdge(each)),
      ...records.map((each) => (w: StoreWriter) => w.putRecord(each)),
    );
  const wanted = [
    ...objects.map((each) => ({ object: each })),
    ...edges.map((each) => ({ edge: each })),
    ...records.map((each) => ({ record: { ...each, version: 1 } })),
  ];

  test.each([1, 3, 7, 1_000])('everything comes once, as it is, in pages of %i', async (limit) => {
    await fill();
    const rows = await store().read((reader) => all(reader, limit));
    expect(sorted(rows)).toEqual(sorted(wanted));
  });

  test('it is the same before the commit, and without what was deleted', async () => {
    await fill();
    const rows = await store().write(async (writer) => {
      await writer.deleteRecord({ kind: 'grant', key: 'k1' });
      await writer.putObject(object('dlg_new', 9));
      return all(writer, 4);
    });
    const names = rows.map(nameOf);
    expect(names).toContain('object dlg_new');
    expect(names).not.toContain('record grant k1');
    expect(names).toHaveLength(wanted.length);
    expect(await store().read((reader) => all(reader, 4))).toEqual(rows);
  });

  test('nothing gives nothing, and what no scan gave is refused', async () => {
    expect(await store().read((reader) => all(reader, 2))).toEqual([]);
    const asked = store().read((reader) => reader.scan({ after: 'elsewhere 1', limit: 2 }));
    await expect(asked).rejects.toMatchObject({ code: 'invalid' });
    const none = store().read((reader) => reader.scan({ limit: 0 }));
    await expect(none).rejects.toMatchObject({ code: 'invalid' });
  });

  test('a record from another store comes with its version', async () => {
    const version = await store().write((writer) => writer.putRecord(record('k'), { version: 7 }));
    expect(version).toBe(7);
    expect(await store().write((writer) => writer.putRecord(record('k')))).toBe(8);
    const asked = store().write((writer) => writer.putRecord(record('k'), { version: 0 }));
    await expect(asked).rejects.toMatchObject({ code: 'invalid' });
  });
}
