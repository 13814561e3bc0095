import { ThroughlineError } from '../errors.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { AgentHandler, HandlerIo, HandlerResult } from './handler.ts';
import { reasonOf, type Work } from './work.ts';
import type { IncomingContext } from './incoming.ts';
import { ItemReader } from './io.ts';
import type { AgentPorts } from './ports.ts';
import { selfCheck } from './self-check.ts';

/**
 * Runs the handler on an AgentContext and returns the updated one: item states as they come, output
 * by reference, the agent's own evaluation. Nothing but the agent's four fields differs from what
 * came in.
 */
export async function doSubtask(
  work: Work,
  ports: AgentPorts,
  handler: AgentHandler,
  { context, access }: IncomingContext,
): Promise<void> {
  const { publisher, outputs, io } = work;
  const progress = new Progress(context);
  const reader = new ItemReader(ports, context, access);
  const handlerIo: HandlerIo = {
    ...io,
    fetch: (contextId) => reader.fetch(contextId),
    materials: () => reader.materials(),
    itemDone: (itemId, abstract) => {
      progress.done(itemId, abstract);
      publisher.state({ state: 'in-progress' }, { progress: progress.latest(itemId) });
      return Promise.resolve();
    },
  };
  let returned: AgentContext;
  try {
    const result = (await handler(structuredClone(context), handlerIo)) ?? {};
    returned = progress.end(result, [...outputs.refs.keys()]);
  } catch (error) {
    if (io.signal.aborted) return;
    work.fault(error);
    const reason = reasonOf(error);
    publisher.returned(progress.fail(reason));
    publisher.state({ state: 'failed' }, { text: reason });
    return;
  }
  if (io.signal.aborted) return;
  publisher.returned(returned);
  publisher.state({ state: 'completed' });
}

/** What the handler did so far, as the fields that an agent may write. */
class Progress {
  readonly #context: AgentContext;
  readonly #abstracts = new Map<string, string>();

  constructor(context: AgentContext) {
    this.#context = context;
  }

  done(itemId: string, abstract: string): void {
    if (!this.#context.todoItems.some(({ itemID }) => itemID === itemId)) {
      throw new ThroughlineError('invalid', `There is no item ${itemId} in this AgentContext.`);
    }
    this.#abstracts.set(itemId, abstract);
  }

  latest(itemId: string): Record<string, unknown> {
    return {
      ItemStateUpdates: [{ itemID: itemId, state: 1 }],
      KeyInformation: [{ itemID: itemId, outputabstract: this.#abstracts.get(itemId) ?? '' }],
    };
  }

  end(result: HandlerResult, evidence: readonly string[]): AgentContext {
    const context = this.#soFar();
    return { ...context, EvaluationResult: selfCheck(context, result, evidence) };
  }

  fail(reason: string): AgentContext {
    const context = this.#soFar();
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

  #soFar(): AgentContext {
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
