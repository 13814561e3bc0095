import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { HandlerResult } from './handler.ts';
import { checkValue } from './handler-values.ts';
import { selfCheck } from './self-check.ts';

/** Characters of all that is told of the items: an AgentContext comes back with it. */
const abstractsLength = 131_072;

/** What the handler did so far, as the fields that an agent may write. */
export class Progress {
  readonly #context: AgentContext;
  readonly #abstracts = new Map<string, string>();
  #length = 0;

  constructor(context: AgentContext) {
    this.#context = context;
  }

  done(itemId: string, abstract: string): void {
    if (!this.#context.todoItems.some(({ itemID }) => itemID === itemId)) {
      throw new ThroughlineError('invalid', `There is no item ${itemId} in this AgentContext.`);
    }
    checkValue(z.string(), abstract, `What is told of item ${itemId}`);
    const others = this.#length - (this.#abstracts.get(itemId)?.length ?? 0);
    if (others + abstract.length > abstractsLength) {
      throw new ThroughlineError(
        'too-large',
        `Of all items together ${abstractsLength} characters can be told; put out what is long, and tell its gist.`,
      );
    }
    this.#length = others + abstract.length;
    this.#abstracts.set(itemId, abstract);
  }

  latest(itemId: string): Record<string, unknown> {
    return {
      ItemStateUpdates: [{ itemID: itemId, state: 1 }],
      KeyInformation: [{ itemID: itemId, outputabstract: this.#abstracts.get(itemId) ?? '' }],
    };
  }

  end(result: HandlerResult, evidence: readonly string[], traces: readonly string[]): AgentContext {
    const context = this.soFar();
    return { ...context, EvaluationResult: selfCheck(context, result, { evidence, traces }) };
  }

  fail(reason: string): AgentContext {
    const context = this.soFar();
    return {
      ...context,
      EvaluationResult: {
        Status: 'failed',
        Confidence: 0,
        CriterionResults: [],
        FailureReason: reason,
      },
    };
  }

  soFar(): AgentContext {
    const { todoItems } = this.#context;
    return {
      ...this.#context,
      ItemStateUpdates: todoItems.map(({ itemID }) => ({
        itemID,
        state: this.#abstracts.has(itemID) ? 1 : 0,
      })),
      KeyInformation: [...this.#abstracts].map(([itemID, outputabstract]) => ({
        itemID,
        outputabstract,
      })),
    };
  }
}
