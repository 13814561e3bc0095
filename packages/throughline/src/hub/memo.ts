/** Some of what was worked out before, by what it follows from. Values are shared: nobody may change them. */
export class Memo<T> {
  readonly #most: number;
  readonly #known = new Map<string, T>();

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string, make: () => T): T {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const made = make();
    if (this.#known.size >= this.#most) this.#known.clear();
    this.#known.set(name, made);
    return made;
  }

  clear(): void {
    this.#known.clear();
  }
}
