/** Steps that undo what a work has changed, newest last. */
export class UndoLog {
  #steps: (() => void)[] = [];
  #mark = 0;

  push(step: () => void): void {
    this.#steps.push(step);
  }

  /** Later `undo` goes back to here. */
  mark(): void {
    this.#mark = this.#steps.length;
  }

  undo(): void {
    this.#backTo(this.#mark);
  }

  undoAll(): void {
    this.#backTo(0);
  }

  forget(): void {
    this.#steps = [];
    this.#mark = 0;
  }

  #backTo(length: number): void {
    while (this.#steps.length > length) this.#steps.pop()?.();
  }
}

/** A map that can be found by further values of its rows and whose changes can be undone. */
export class Table<Row> {
  readonly #rows = new Map<string, Row>();
  readonly #found = new Map<string, Set<string>>();
  readonly #terms: (row: Row) => readonly string[];
  readonly #log: UndoLog;

  /** `terms` gives what a row is found by. */
  constructor(log: UndoLog, terms: (row: Row) => readonly string[]) {
    this.#log = log;
    this.#terms = terms;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  /** Rows found by a term, or all of them. */
  find(term?: string): Row[] {
    if (term === undefined) return [...this.#rows.values()];
    return [...(this.#found.get(term) ?? [])].flatMap((key) => this.#rows.get(key) ?? []);
  }

  /** Puts a row, or with `undefined` takes it away. */
  set(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key);
    this.#place(key, row);
    this.#log.push(() => this.#place(key, before));
  }

  #place(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key);
    if (before !== undefined) {
      for (const term of this.#terms(before)) this.#drop(term, key);
    }
    if (row === undefined) {
      this.#rows.delete(key);
      return;
    }
    this.#rows.set(key, row);
    for (const term of this.#terms(row)) {
      const keys = this.#found.get(term);
      if (keys === undefined) this.#found.set(term, new Set([key]));
      else keys.add(key);
    }
  }

  #drop(term: string, key: string): void {
    const keys = this.#found.get(term);
    keys?.delete(key);
    if (keys?.size === 0) this.#found.delete(term);
  }
}
