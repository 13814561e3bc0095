import Database, { type Database as Connection } from 'better-sqlite3';
import type { Assertion } from './workload.ts';

/** An assertion with everything that a store has to find out about it before it can write it. */
interface Prepared extends Assertion {
  readonly seq: number;
  readonly aboutNumber: number;
  readonly activityNumber: number;
  readonly targetNumber: number | undefined;
  /** Names that come up for the first time. */
  readonly newNames: readonly (readonly [n: number, id: string])[];
  readonly hash: Buffer;
  readonly text: string;
  readonly bytes: Buffer;
}

function prepared(work: readonly Assertion[]): readonly Prepared[] {
  const numbers = new Map([['delegated-from', 1]]);
  return work.map((one, i) => {
    const newNames: (readonly [number, string])[] = i === 0 ? [[1, 'delegated-from']] : [];
    const numberOf = (id: string): number => {
      const known = numbers.get(id);
      if (known !== undefined) return known;
      const n = numbers.size + 1;
      numbers.set(id, n);
      newNames.push([n, id]);
      return n;
    };
    return {
      ...one,
      seq: i + 1,
      aboutNumber: numberOf(one.about),
      activityNumber: numberOf(one.activity),
      targetNumber: one.edge && numberOf(one.edge.to),
      newNames,
      hash: Buffer.alloc(32, i),
      text: JSON.stringify(one.shape),
      // As long as the slot that the store keeps it in.
      bytes: Buffer.alloc(224, i),
    };
  });
}

/**
 * Writes the same assertions with the same driver into an empty file with the tables and indexes of
 * a store. Nothing is looked up, hashed, serialised or checked, and none can be undone by itself:
 * the least that a store would do. Gives what writes the ones from one number up to another, in
 * one synced transaction.
 */
export function rawWriter(
  path: string,
  work: readonly Assertion[],
): { write(from: number, to: number): void; close(): void } {
  const db = new Database(path);
  for (const pragma of ['journal_mode = wal', 'synchronous = full']) db.pragma(pragma);
  const insert = inserter(db);
  const ready = prepared(work);
  return {
    write(from, to) {
      db.exec('begin immediate');
      for (const one of ready.slice(from, to)) insert(one);
      db.exec('commit');
    },
    close: () => void db.close(),
  };
}

function inserter(db: Connection): (one: Prepared) => void {
  const name = db.prepare('insert into names (n, id) values (?, ?)');
  const slot = db.prepare('insert into slots (live, bytes) values (1, ?)');
  const refill = db.prepare('update slots set bytes = ? where n = ?');
  const log = db.prepare(
    `insert into log (seq, id, about, activity, hash, shape, sealed) values (?, ?, ?, ?, ?, ?, ?)`,
  );
  const object = db.prepare(
    `insert into objects (n, kind, activity, seq, shape, sealed) values (?, 'dialog', ?, ?, ?, ?)`,
  );
  const change = db.prepare('update objects set seq = ?, shape = ? where n = ?');
  const edge = db.prepare(
    `insert into edges (id, type, source, target, activity, active, seq, shape)
     values (?, 1, ?, ?, ?, 1, ?, '{}')`,
  );
  const slotOf = new Map<number, number | bigint>();
  return ({ seq, id, aboutNumber, activityNumber, hash, text, bytes, ...one }) => {
    for (const [n, newId] of one.newNames) name.run(n, newId);
    const sealed = slot.run(bytes).lastInsertRowid;
    log.run(seq, id, aboutNumber, activityNumber, hash, text, sealed);
    const before = slotOf.get(aboutNumber);
    if (before === undefined) {
      const own = slot.run(bytes).lastInsertRowid;
      slotOf.set(aboutNumber, own);
      object.run(aboutNumber, activityNumber, seq, text, own);
    } else {
      refill.run(bytes, before);
      change.run(seq, text, aboutNumber);
    }
    if (one.edge === undefined) return;
    edge.run(one.edge.id, aboutNumber, one.targetNumber, activityNumber, seq);
  };
}
