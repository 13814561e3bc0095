import { createHash, randomUUID } from 'node:crypto';
import type { HubClient } from '../../client/index.ts';
import { ThroughlineError } from '../../errors.ts';
import type { Observation } from '../../model/observation.ts';
import type { Caller, Principal } from '../../model/principal.ts';
import type { RunReport } from '../../model/run.ts';
import type { TaskRecord } from '../../model/task-record.ts';
import type { AwaitingWhat, TaskState } from '../../model/task.ts';
import { leftRequests, madeBy } from './left-requests.ts';

export interface Parties {
  /** Client with the Master's own key. */
  readonly hub: HubClient;
  readonly master: Principal;
  /** Who asks, by its credential. */
  readonly caller: Caller;
}

interface Stands {
  readonly state: TaskState;
  readonly awaiting?: AwaitingWhat;
}

/** How a run shows as the A2A task that it is for. */
const standing: Readonly<Record<RunReport['status'], Stands>> = {
  running: { state: 'in-progress' },
  suspended: { state: 'in-progress' },
  'awaiting-input': { state: 'awaiting', awaiting: 'input' },
  completed: { state: 'completed' },
  failed: { state: 'failed' },
  cancelled: { state: 'cancelled' },
};

const wireStates: Partial<Record<TaskState, string>> = {
  'in-progress': 'TASK_STATE_WORKING',
  awaiting: 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
};

/**
 * Opens the A2A task that a run from the command line is for: the request, as a message to the Master would
 * have made it. Ends those before it that came to nothing.
 *
 * @param pid Process that is to begin the run.
 */
export async function openRequest(
  parties: Parties,
  query: string,
  pid = process.pid,
): Promise<{ taskId: string; contextId: string }> {
  await endThoseLeft(parties);
  const { hub, master, caller } = parties;
  const messageId = randomUUID();
  const payload = `sha-256:${createHash('sha256').update(query).digest('hex')}`;
  const request = { agent: master.id, messageId, referenceTaskIds: [], payload };
  const { contextId } = await hub.admit(caller, request);
  const record: TaskRecord = {
    id: randomUUID(),
    contextId,
    agent: master.id,
    version: 0,
    ...standing.running,
    statusAt: new Date().toISOString(),
    messageId,
    body: undefined,
  };
  const history = [
    { messageId, contextId, taskId: record.id, role: 'ROLE_USER', parts: [{ text: query }] },
  ];
  const body = bodyOf(record, { history, artifacts: [], metadata: madeBy(pid) });
  await hub.saveTask(caller, { ...record, body }, [
    {
      ...placeOf(parties, record),
      kind: 'message',
      messageId,
      taskId: record.id,
      objective: query.slice(0, 500).toWellFormed(),
      referenceTaskIds: [],
      resources: [],
    },
    seenAs(parties, record),
  ]);
  return { taskId: record.id, contextId };
}

/** Says how the run stands, or ended, on its A2A task. */
export async function tellRequest(
  parties: Parties,
  { requestTask, status, reason, questions }: RunReport,
): Promise<void> {
  const { hub, caller } = parties;
  const before = await hub.loadTask(caller, requestTask);
  if (before === undefined) throw new ThroughlineError('not-found', `task ${requestTask} is gone`);
  const text = questions.map((question) => question.text).join('\n') || reason;
  await sayHowItStands(parties, before, status, text);
}

async function endThoseLeft(parties: Parties): Promise<void> {
  const reason = 'Its process ended before it had begun the run.';
  for (const left of await leftRequests(parties)) {
    try {
      await sayHowItStands(parties, left, 'failed', reason);
    } catch (error) {
      // Another command saw it, too.
      if (!(error instanceof ThroughlineError) || error.code !== 'conflict') throw error;
    }
  }
}

/** @param before The task as it is stored. */
async function sayHowItStands(
  parties: Parties,
  before: TaskRecord,
  status: RunReport['status'],
  text: string | undefined,
): Promise<void> {
  const { awaiting: _, ...rest } = before;
  const record: TaskRecord = {
    ...rest,
    ...standing[status],
    statusAt: new Date().toISOString(),
  };
  if (before.state === record.state && before.awaiting === record.awaiting) return;
  const { history, artifacts } = Object(before.body);
  const body = bodyOf(record, { history, artifacts }, text);
  await parties.hub.saveTask(parties.caller, { ...record, body }, [seenAs(parties, record)]);
}

function bodyOf(
  { id, contextId, state, statusAt }: TaskRecord,
  kept: { history?: unknown; artifacts?: unknown; metadata?: object | undefined },
  text?: string,
): Record<string, unknown> {
  const message = text === undefined ? undefined : agentMessage(id, contextId, text);
  return {
    id,
    contextId,
    status: { state: wireStates[state], timestamp: statusAt, ...(message && { message }) },
    ...kept,
  };
}

const agentMessage = (taskId: string, contextId: string, text: string): object => ({
  messageId: randomUUID(),
  taskId,
  contextId,
  role: 'ROLE_AGENT',
  parts: [{ text }],
});

function placeOf({ master, caller }: Parties, { contextId }: TaskRecord) {
  const { id } = caller.principal;
  return {
    protocol: 'a2a',
    side: 'server',
    endpoint: 'urn:throughline:run',
    contextId,
    client: { kind: 'user', name: id, principal: id },
    server: { kind: 'agent', name: master.id, principal: master.id },
    at: new Date().toISOString(),
  } as const;
}

const seenAs = (parties: Parties, record: TaskRecord): Observation => ({
  ...placeOf(parties, record),
  kind: 'task',
  taskId: record.id,
  state: record.state,
  ...(record.awaiting !== undefined && { awaiting: record.awaiting }),
});
