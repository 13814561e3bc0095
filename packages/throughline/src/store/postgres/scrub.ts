import type { Connection, Session } from './connection.ts';

/** Shortest time between two tries while somebody holds on to an older moment, in milliseconds. */
const pauseMs = 1_000;

/** An erasure of an earlier process has bytes left to clear. */
export async function hasUnscrubbed(connection: Connection): Promise<boolean> {
  return (await connection.rows('select from unscrubbed limit 1')).length > 0;
}

/**
 * Clears erased bytes from the table's files. The server leaves a deleted row where it was, and a
 * plain VACUUM leaves its bytes in the free space of the page; so the partition is written anew.
 */
export class Scrubber {
  readonly #session: Session;
  #notBefore = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** True once nothing that was erased, here or by another hub, is left. */
  async scrub(): Promise<boolean> {
    const started = performance.now();
    if (started < this.#notBefore) return false;
    try {
      const connection = await this.#session.connected();
      const parts = await connection.rows<{ part: number }>('select part from unscrubbed');
      let clean = true;
      for (const { part } of parts) {
        // Its remarks say how many deleted rows were kept for someone who may still read them.
        const remarks = await connection.remarks(() =>
          connection.run(`vacuum (full, verbose) sealed_${part}`),
        );
        if (remarks.length > 0 && remarks.every((remark) => remark.startsWith('0 '))) {
          await connection.rows('delete from unscrubbed where part = $1', [part]);
        } else clean = false;
      }
      if (clean) return true;
    } catch {
      // Held by a reader, or out of reach: with a later commit.
    } finally {
      await this.#session.end();
    }
    this.#notBefore = performance.now() + Math.max(pauseMs, 10 * (performance.now() - started));
    return false;
  }
}
