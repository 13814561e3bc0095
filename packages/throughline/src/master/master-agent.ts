import { ThroughlineError } from '../errors.ts';
import type { Part } from '../handover/parts.ts';
import type { Principal } from '../model/principal.ts';
import type { RunReport } from '../model/run.ts';
import { sleep } from './agent-failure.ts';
import { answerOf, type MasterAnswer } from './answer.ts';
import { describeEvent } from './describe-event.ts';
import type { OnEvent, RunEvent } from './events.ts';
import type { Master, RunOptions, RunRequest } from './master.ts';
import type { MasterPorts } from './ports.ts';

/** A message of a user, as `serveAgent` gives it. */
export interface AskedMessage {
  readonly messageId: string;
  readonly text: string;
  readonly parts: readonly Part[];
}

/** The A2A task that a message came on, and who sent it. */
export interface AskedTask {
  readonly taskId: string;
  readonly contextId: string;
  readonly caller: Principal;
}

/** What a user's message asks for; `query`: the message's text unless it is given. */
export type AskedRun = Omit<RunRequest, 'taskId' | 'query' | 'messages'> & {
  readonly query?: string;
};

export interface MasterAgentOptions {
  readonly master: Master;
  /** Of the same principal as the Master's. */
  readonly ports: Pick<MasterPorts, 'locate' | 'getContent'>;
  /**
   * The run that the first message on a task asks for; what comes later on it goes to that run. Asked
   * again after a restart, so it must not do anything. What it throws ends the task: `invalid` and
   * `unsupported` as rejected.
   */
  readonly request: (message: AskedMessage, task: AskedTask) => AskedRun | Promise<AskedRun>;
  /** What the user is told of a run that is over. Default: what its last subtask put out, by value. */
  readonly answer?: (report: RunReport) => MasterAnswer | Promise<MasterAnswer>;
  readonly onEvent?: OnEvent;
}

/** For `serveAgent`: what it does with messages, and with a task that is cancelled. */
export interface MasterAgent {
  readonly onMessage: (
    message: AskedMessage & { readonly earlier: readonly AskedMessage[] },
    io: AskedTask & { readonly signal: AbortSignal; readonly progress: (text: string) => void },
  ) => Promise<MasterAnswer>;
  readonly onCancel: (taskId: string) => Promise<void>;
}

/** Milliseconds between two looks at a run that another process of this agent drives. */
const elsewhereMs = 2_000;
/** So many of them without an end, and this process takes the run over. */
const looksElsewhere = 30;

/**
 * An agent with a Master inside: `serveAgent({ ...masterAgent({ master, ports, request }), … })`. A message
 * begins a run and streams its progress; what the run asks, the task asks (`input-required`); a further
 * message on the task is the answer where something is asked, else a barge-in; to cancel the task ends what
 * was handed out. After a crash the same task goes on with the same run.
 */
export function masterAgent(options: MasterAgentOptions): MasterAgent {
  const { master, ports, request, onEvent } = options;
  /** Tasks whose progress is told by one of the messages on them that are worked on. */
  const told = new Set<string>();
  return {
    onMessage: async (message, io) => {
      const said = [...message.earlier, message];
      const [first = message] = said;
      const asked = await request(first, io);
      const given: RunRequest = {
        ...asked,
        taskId: io.taskId,
        query: asked.query ?? first.text,
        messages: said.map(({ messageId, text }) => ({ id: messageId, text })),
      };
      const isFirst = !told.has(io.taskId);
      told.add(io.taskId);
      const tell = (event: RunEvent): void => {
        onEvent?.(event);
        const line = describeEvent(event);
        if (line !== undefined) io.progress(line);
      };
      const watched = { signal: io.signal, ...(isFirst && { onEvent: tell }) };
      const report = await driven(options, given, watched).finally(() => {
        if (isFirst) told.delete(io.taskId);
      });
      const { answer } = options;
      return report.done && answer !== undefined ? answer(report) : answerOf(ports, report);
    },
    onCancel: async (taskId) => {
      try {
        const { task } = await ports.locate(taskId);
        await master.cancel(task);
      } catch (error) {
        // It was cancelled before it had a run.
        if (!(error instanceof ThroughlineError && error.code === 'not-found')) throw error;
      }
    },
  };
}

/** To its end or to a question, whoever drives it: a further message may reach another process. */
async function driven(
  { master, ports }: MasterAgentOptions,
  request: RunRequest,
  options: RunOptions & { readonly signal: AbortSignal },
): Promise<RunReport> {
  for (;;) {
    try {
      return await master.run(request, options);
    } catch (error) {
      const isElsewhere = error instanceof ThroughlineError && error.code === 'conflict';
      if (!isElsewhere) throw error;
      const { task } = await ports.locate(request.taskId);
      for (let looks = 0; looks < looksElsewhere; looks++) {
        await sleep(elsewhereMs, options.signal);
        options.signal.throwIfAborted();
        const report = await master.status(task);
        if (report.status !== 'running') return report;
      }
    }
  }
}
