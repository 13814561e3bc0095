import type { AgentContext } from '../model/agent-context.ts';
import { carriedTrace, traceIdOf } from '../telemetry/trace.ts';
import { gradedOutputs, gradeOwn } from './grade-own.ts';
import type { AgentHandler, HandlerIo, HandlerResult } from './handler.ts';
import { checkValue, resultSchema } from './handler-values.ts';
import { Beside } from './beside.ts';
import { asking } from './do-message.ts';
import { reasonOf, type Work } from './work.ts';
import type { IncomingContext } from './incoming.ts';
import { ItemReader, type ReadingMeans } from './io.ts';
import type { AgentPorts } from './ports.ts';
import { readMaterials } from './materials.ts';
import { Progress } from './progress.ts';

const stillAsking = Symbol('still asking');

/**
 * Runs the handler on an AgentContext and returns the updated one: item states as they come, output
 * by reference, the agent's own evaluation. Nothing but the agent's four fields differs from what
 * came in.
 */
export async function doSubtask(
  work: Work,
  ports: AgentPorts,
  handler: AgentHandler,
  { answers, ...incoming }: IncomingContext & { readonly answers: readonly string[] },
  means: ReadingMeans = {},
): Promise<void> {
  const { context } = incoming;
  const { publisher, outputs, io } = work;
  const progress = new Progress(context);
  const beside = new Beside();
  const reader = new ItemReader(ports, incoming, means);
  const left = [...answers];
  const question = Promise.withResolvers<typeof stillAsking>();
  const handlerIo: HandlerIo = {
    ...io,
    fetch: (contextId) => reader.fetch(contextId),
    materials: async (asked) => {
      const materials = await readMaterials(context, {
        ...asked,
        fetch: (contextId) => reader.fetch(contextId),
        rewriters: work.rewriters,
        code: work.code,
        signal: io.signal,
        fault: work.fault,
      });
      beside.compressed(materials.report);
      return materials;
    },
    spent: (usage) => beside.spent(usage),
    ask: (text) => {
      const answer = left.shift();
      if (answer !== undefined) return Promise.resolve(answer);
      if (!io.signal.aborted) publisher.state(asking, { text });
      question.resolve(stillAsking);
      // The answer comes to another run of the handler.
      return new Promise(() => undefined);
    },
    itemDone: (itemId, abstract) => {
      progress.done(itemId, abstract);
      publisher.state({ state: 'in-progress' }, { progress: progress.latest(itemId) });
      return Promise.resolve();
    },
  };
  const { graders = {} } = incoming.access ?? {};
  outputs.keep(gradedOutputs(graders));
  /** What a grader can't look at now is the Master's to find out. */
  const checked = (result: HandlerResult): Promise<HandlerResult> =>
    gradeOwn(progress.soFar(), result, { graders, outputs, reader }).catch((error: unknown) => {
      io.signal.throwIfAborted();
      work.fault(error);
      return result;
    });
  let returned: AgentContext;
  try {
    const running = async () => handler(structuredClone(context), handlerIo);
    const result = (await Promise.race([question.promise, running()])) ?? {};
    if (result === stillAsking) return;
    checkValue(resultSchema, result, 'What the handler gave back');
    returned = progress.end(await checked(result), [...outputs.refs.keys()], traceRefs());
  } catch (error) {
    if (io.signal.aborted) return;
    work.fault(error);
    const reason = reasonOf(error);
    publisher.returned(progress.fail(reason), beside.metadata());
    publisher.state({ state: 'failed' }, { text: reason });
    return;
  }
  if (io.signal.aborted) return;
  publisher.returned(returned, beside.metadata());
  publisher.state({ state: 'completed' });
}

/** The trace that the Master called under, where it said: it sees that one, and none that begins here. */
function traceRefs(): string[] {
  const id = traceIdOf(carriedTrace());
  return id === undefined ? [] : [id];
}
