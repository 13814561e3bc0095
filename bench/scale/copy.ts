import type { Store, StoredRow } from 'throughline/store';

/** Entries or rows of one write. */
const page = 1_000;

/** Copies a store that nobody writes to into an empty one, numbers and hashes included. */
export async function copyStore(
  from: Store,
  to: Store,
  tell: (done: number) => void,
): Promise<void> {
  for (let after = 0; ;) {
    const entries = await from.read((reader) => reader.log({ after, limit: page }));
    const last = entries.at(-1);
    if (last === undefined) break;
    await to.write((writer) => writer.append(entries));
    after = last.seq;
    tell(after);
  }
  let after: { after?: string } = {};
  for (let isEnd = false; !isEnd;) {
    const given = after;
    const { rows, next } = await from.read((reader) => reader.scan({ ...given, limit: page }));
    await to.write(async (writer) => {
      for (const row of rows) await put(writer, row);
    });
    isEnd = next === undefined;
    after = next === undefined ? {} : { after: next };
  }
}

type Writer = Parameters<Parameters<Store['write']>[0]>[0];

async function put(writer: Writer, row: StoredRow): Promise<void> {
  if ('object' in row) return writer.putObject(row.object);
  if ('edge' in row) return writer.putEdge(row.edge);
  const { version, ...record } = row.record;
  await writer.putRecord(record, { version });
}
