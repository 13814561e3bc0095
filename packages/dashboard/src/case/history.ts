import type { Assertion } from 'throughline/model';

/** What the order of the assertions tells beside the graph: what came first, and when. */
export class History {
  readonly #first = new Map<string, number>();
  readonly #times = new Map<number, string>();

  constructor(assertions: readonly Assertion[]) {
    for (const { about, seq, recordedAt } of assertions) {
      if (!this.#first.has(about)) this.#first.set(about, seq);
      this.#times.set(seq, recordedAt);
    }
  }

  /** When the hub wrote down that assertion; undefined when it is not among those read. */
  timeOf(seq: number | undefined): string | undefined {
    return seq === undefined ? undefined : this.#times.get(seq);
  }

  /** Things in the order in which they were first spoken of; unknown ones last, as they came. */
  inOrder<T extends { readonly id: string }>(things: readonly T[]): T[] {
    const at = ({ id }: T): number => this.#first.get(id) ?? Number.MAX_SAFE_INTEGER;
    return things.toSorted((a, b) => at(a) - at(b));
  }
}
