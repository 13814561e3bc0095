import { ThroughlineError } from '../errors.ts';
import type { CompressionReport } from '../handover/compress.ts';
import { usageLimit } from '../model/usage.ts';
import type { ModelSpent } from './handler.ts';

/** Figures that go back beside the AgentContext, since its schema has no place for them. */
export class Beside {
  readonly #usage = new Map<string, ModelSpent>();
  #compression: Record<string, unknown> | undefined;

  /** Adds what a model used, one entry a model. */
  spent({ model, inputTokens, outputTokens }: ModelSpent): void {
    const before = this.#usage.get(model);
    const isCount = [inputTokens, outputTokens].every((n) => Number.isSafeInteger(n) && n >= 0);
    if (!isCount || (before === undefined && this.#usage.size >= usageLimit)) {
      throw new ThroughlineError(
        'invalid',
        `Usage is told in whole tokens, of at most ${usageLimit} models.`,
      );
    }
    this.#usage.set(model, {
      model,
      inputTokens: (before?.inputTokens ?? 0) + inputTokens,
      outputTokens: (before?.outputTokens ?? 0) + outputTokens,
    });
  }

  /** Tokens before and after local compression; of several, the last one counts. */
  compressed({ tokenizer, before, after, missed }: CompressionReport): void {
    this.#compression = { tokenizer, before, after, ...(missed !== undefined && { missed }) };
  }

  metadata(): Readonly<Record<string, unknown>> {
    return {
      ...(this.#usage.size > 0 && { usage: [...this.#usage.values()] }),
      ...(this.#compression && { compression: this.#compression }),
    };
  }
}
