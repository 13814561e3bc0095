import { CheckedBus } from '../bindings/a2a/bus.ts';
import { executionOf } from '../bindings/a2a/call.ts';
import { isFromUser, partsFromWire, textOf } from '../bindings/a2a/wire.ts';
import { ThroughlineError } from '../errors.ts';
import { agentContextMediaType } from '../model/agent-context.ts';
import { contentAccessKey } from '../model/content.ts';
import type { Principal } from '../model/principal.ts';
import { inSpan } from '../telemetry/span.ts';
import { readContext } from './incoming.ts';
import type { AgentHandler, IncomingMessage, MessageHandler, ReceivedMessage } from './handler.ts';
import { hubAway, retrying } from '../bindings/a2a/retry.ts';
import { Outputs, type Ports, type ReadingMeans } from './io.ts';
import { doMessage } from './do-message.ts';
import { doSubtask } from './do-subtask.ts';
import { patient } from './patient.ts';
import { reasonOf, type Work } from './work.ts';
import type { Rewriter } from './rewriter.ts';
import type { CodeReader } from './tree-sitter.ts';
import { Publisher, type Bus, type Executor, type Request } from './publisher.ts';

export interface ExecutorOptions extends ReadingMeans {
  readonly ports: Ports;
  /** The agent's own principal. */
  readonly principal: Principal;
  readonly handler?: AgentHandler | undefined;
  readonly onMessage?: MessageHandler | undefined;
  /** Shorten texts where a policy lets them be rewritten. */
  readonly rewriters?: readonly Rewriter[] | undefined;
  /** Makes outlines of code where a policy asks for less of it. */
  readonly code?: CodeReader | undefined;
  readonly now?: (() => Date) | undefined;
  /** Told of what callers do not see: a handler's own errors. */
  readonly onFault?: ((error: unknown, about: { taskId: string }) => void) | undefined;
}

/** Milliseconds to wait for the hub to have the task that was just begun: as long as its write waits. */
const storeWaitMs = 120_000;

/** What runs when a message came in: the handler of subtasks, or that of plain messages. */
export function makeExecutor(options: ExecutorOptions): Executor {
  /** By task: several messages of one may be worked on at the same time. */
  const running = new Map<string, Set<AbortController>>();
  return {
    execute: async (request, bus) => {
      const abort = new AbortController();
      const turns = running.get(request.taskId) ?? new Set();
      running.set(request.taskId, turns.add(abort));
      const work = (): Promise<void> => execute(options, request, bus, abort.signal);
      const attributes = {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.id': options.principal.id,
        'a2a.task.id': request.taskId,
        'gen_ai.conversation.id': request.contextId,
      };
      try {
        await inSpan('agent.work', work, { attributes });
      } finally {
        turns.delete(abort);
        if (turns.size === 0) running.delete(request.taskId);
      }
    },
    cancelTask: (taskId, bus) => {
      const why = new ThroughlineError('terminal', 'The task was cancelled.');
      for (const abort of running.get(taskId) ?? []) abort.abort(why);
      const ids = { taskId, contextId: '' };
      new Publisher(bus, ids, options.now ?? (() => new Date())).state({ state: 'cancelled' });
      return Promise.resolve();
    },
  };
}

async function execute(
  options: ExecutorOptions,
  request: Request,
  bus: Bus,
  signal: AbortSignal,
): Promise<void> {
  const { principal, handler, onMessage, now = () => new Date() } = options;
  const ports = patient(options.ports, signal);
  const { taskId, contextId } = request;
  const publisher = new Publisher(bus, { taskId, contextId }, now);
  publisher.begin(request);
  try {
    if (!(bus instanceof CheckedBus && (await bus.stored()))) await stored(options, taskId, signal);
    signal.throwIfAborted();
    const outputs = new Outputs(ports, taskId);
    const execution = executionOf(request.context);
    const work: Work = {
      principal,
      publisher,
      outputs,
      rewriters: options.rewriters,
      code: options.code,
      fault: (error) => options.onFault?.(error, { taskId }),
      io: {
        signal,
        taskId,
        contextId,
        caller: execution?.caller ?? principal,
        resumed: execution?.resumed ?? false,
        output: async (name, mediaType, content, keeping) => {
          const ref = await outputs.put(name, mediaType, content, keeping);
          publisher.reference(name, ref);
          return ref;
        },
      },
    };
    const { message, answers, metadata } = workOf(request);
    const parts = partsFromWire(message.parts);
    const incoming = readContext(parts, metadata, principal.id);
    if (incoming !== undefined && handler !== undefined) {
      await doSubtask(work, ports, handler, { ...incoming, answers }, options);
    } else if (incoming === undefined && onMessage !== undefined) {
      await doMessage(work, onMessage, incomingOf(request));
    } else {
      throw new ThroughlineError(
        'unsupported',
        incoming === undefined
          ? 'This agent takes AgentContexts only; send one as a part.'
          : 'This agent takes no AgentContexts; send a plain message.',
      );
    }
  } catch (error) {
    if (signal.aborted) return;
    options.onFault?.(error, { taskId });
    const isRefusal = error instanceof ThroughlineError && refusals.includes(error.code);
    publisher.state({ state: isRefusal ? 'rejected' : 'failed' }, { text: reasonOf(error) });
  }
}

function incomingOf({ task, userMessage }: Request): IncomingMessage {
  const before = (task?.history ?? []).filter(
    (each) => isFromUser(each) && each.messageId !== userMessage.messageId,
  );
  return { ...received(userMessage), earlier: before.map(received) };
}

function received({ messageId, parts: wire }: Request['userMessage']): ReceivedMessage {
  const parts = partsFromWire(wire);
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return { messageId, parts, text: texts.join('\n') };
}

/**
 * What a message is about: itself, or the AgentContext that came before on its task, to which it is an
 * answer. The rights to read are the newest that came.
 */
function workOf({ task, userMessage }: Request): {
  message: Request['userMessage'];
  answers: string[];
  metadata: Request['userMessage']['metadata'];
} {
  const alone = { message: userMessage, answers: [], metadata: userMessage.metadata };
  if (hasContext(userMessage)) return alone;
  const earlier = (task?.history ?? []).filter(
    (each) => isFromUser(each) && each.messageId !== userMessage.messageId,
  );
  const at = earlier.findIndex(hasContext);
  const message = earlier[at];
  if (message === undefined) return alone;
  const after = [...earlier.slice(at + 1), userMessage];
  const newest = after.findLast(({ metadata }) => metadata?.[contentAccessKey] !== undefined);
  return {
    message,
    answers: after.map(({ parts }) => textOf(parts)),
    metadata: (newest ?? message).metadata,
  };
}

const hasContext = ({ parts }: Request['userMessage']): boolean =>
  parts.some(({ mediaType }) => mediaType === agentContextMediaType);

/** The message is at fault, so that nothing of the work was begun. */
const refusals: readonly string[] = ['unsupported', 'invalid', 'too-large'];

/** The hub has the task: what is put out or located from now on finds it. */
async function stored(
  { ports, principal }: ExecutorOptions,
  taskId: string,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + storeWaitMs;
  for (let wait = 2; ; wait = Math.min(wait * 2, 200)) {
    signal.throwIfAborted();
    const look = (): Promise<unknown> => ports.loadTask({ principal }, taskId);
    if ((await retrying(hubAway, look, { signal })) !== undefined) return;
    if (performance.now() > deadline) {
      throw new ThroughlineError('unavailable', 'The hub did not take up the task in time.');
    }
    await new Promise((resolve) => {
      setTimeout(resolve, wait);
    });
  }
}
