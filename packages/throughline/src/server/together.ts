/**
 * Asks once for many who ask the same at about the same time. Who asks while an answer is under way gets
 * the next one: no answer is older than its question.
 */
export class Together<T> {
  readonly #running = new Map<string, Promise<T>>();
  readonly #next = new Map<string, Promise<T>>();

  ask(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running === undefined) return this.#begin(key, work);
    const next = this.#next.get(key) ?? this.#after(running, key, work);
    this.#next.set(key, next);
    return next;
  }

  async #after(running: Promise<T>, key: string, work: () => Promise<T>): Promise<T> {
    await running.catch(() => undefined);
    this.#next.delete(key);
    return this.#begin(key, work);
  }

  #begin(key: string, work: () => Promise<T>): Promise<T> {
    const answer = work().finally(() => {
      if (this.#running.get(key) === answer) this.#running.delete(key);
    });
    this.#running.set(key, answer);
    return answer;
  }
}
