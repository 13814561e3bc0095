import type { Database, Statement } from 'better-sqlite3';

/** Bytes before the content of a slot that hold its length. */
const prefix = 4;

/** A slot's size for so much content: up to an eighth is left over, so that sizes are few. */
function sizeFor(length: number): number {
  const needed = prefix + length;
  const step = Math.max(32, 2 ** (Math.floor(Math.log2(needed)) - 3));
  return Math.ceil(needed / step) * step;
}

/** What a slot holds; plain bytes, as other drivers give them. */
export function slotContent(slot: Buffer): Uint8Array {
  return new Uint8Array(slot.buffer, slot.byteOffset + prefix, slot.readUInt32LE(0));
}

/**
 * Sealed bytes, in a table of their own whose rows never move: they are only ever appended, and
 * changed to others of the same size, which SQLite does in place. In a table that grows, shrinks or
 * loses rows, pages are split and merged, and copies of rows stay behind in unused parts of pages,
 * where even `secure_delete` does not clear them once those rows are erased.
 *
 * A slot that is let go of is overwritten with zeros and taken again for content of its size.
 */
export class Slots {
  readonly #find: Statement<[number], { n: number }>;
  readonly #add: Statement<[Buffer]>;
  readonly #fill: Statement<[bytes: Buffer, n: number, length: number]>;
  readonly #clear: Statement<[number]>;
  /** Sizes of which there is known to be no free slot, until one is cleared or undone. */
  readonly #none = new Set<number>();

  constructor(db: Database) {
    this.#find = db.prepare('select n from slots where live = 0 and length(bytes) = ? limit 1');
    this.#add = db.prepare('insert into slots (live, bytes) values (1, ?)');
    this.#fill = db.prepare(
      'update slots set live = 1, bytes = ? where n = ? and length(bytes) = ?',
    );
    this.#clear = db.prepare(
      'update slots set live = 0, bytes = zeroblob(length(bytes)) where n = ?',
    );
  }

  /** Keeps content in place of what slot `before` holds, or nothing; gives the slot it is in. */
  put(before: number | null, content: Uint8Array | undefined): number | null {
    if (content === undefined) {
      if (before !== null) this.clear(before);
      return null;
    }
    const bytes = Buffer.allocUnsafe(sizeFor(content.length));
    bytes.writeUInt32LE(content.length);
    bytes.set(content, prefix);
    bytes.fill(0, prefix + content.length);
    if (before !== null) {
      if (this.#fill.run(bytes, before, bytes.length).changes === 1) return before;
      this.clear(before);
    }
    const free = this.#none.has(bytes.length) ? undefined : this.#find.get(bytes.length);
    if (free === undefined) {
      this.#none.add(bytes.length);
      return Number(this.#add.run(bytes).lastInsertRowid);
    }
    this.#fill.run(bytes, free.n, bytes.length);
    return free.n;
  }

  clear(n: number): void {
    this.#none.clear();
    this.#clear.run(n);
  }

  /** Others may have changed the table, or a change was undone. */
  forget(): void {
    this.#none.clear();
  }
}
