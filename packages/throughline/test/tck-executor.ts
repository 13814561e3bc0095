import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Artifact, Message, Part, Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';

/** Twice the time that the kit waits for a stream's next event. */
const longMs = 4_000;

/** What one message shall lead to, in the words of the kit's scenarios. */
interface Act {
  readonly artifacts?: readonly (readonly object[])[];
  /** Chunks of one artifact, the last of them marked as such. */
  readonly chunks?: readonly string[];
  readonly reply?: string;
  readonly state?: TaskState;
  readonly text?: string;
  readonly waits?: true;
}

const text = (value: string): object[] => [{ text: value }];
const file = { filename: 'output.txt', mediaType: 'text/plain' };
const inFile = [{ ...file, raw: Buffer.from('Generated file content').toString('base64') }];

/** Beginnings of messageIds, longest first, and what they stand for. */
const acts: readonly (readonly [prefix: string, act: Act])[] = [
  ['tck-stream-artifact-chunked', { chunks: ['chunk-1 ', 'chunk-2'] }],
  ['tck-stream-artifact-file', { artifacts: [inFile] }],
  ['tck-stream-artifact-text', { artifacts: [text('Streamed text content')] }],
  ['tck-stream-ordering-001', { artifacts: [text('Ordered output')] }],
  ['tck-stream-003', { artifacts: [text('Stream task lifecycle')] }],
  ['tck-stream-002', {}],
  ['tck-stream-001', { artifacts: [text('Stream hello from TCK')] }],
  ['test-resubscribe-message-id', { waits: true }],
  ['tck-artifact-file-url', { artifacts: [[{ ...file, url: 'https://example.com/output.txt' }]] }],
  ['tck-artifact-file', { artifacts: [inFile] }],
  ['tck-artifact-text', { artifacts: [text('Generated text content')] }],
  ['tck-artifact-data', { artifacts: [[{ data: { key: 'value', count: 42 } }]] }],
  ['tck-message-response', { reply: 'Direct message response' }],
  ['tck-input-required', { state: TaskState.TASK_STATE_INPUT_REQUIRED }],
  ['tck-reject-task', { state: TaskState.TASK_STATE_REJECTED, text: 'rejected' }],
];
const otherwise: Act = { text: 'Hello from TCK' };

const actFor = (messageId: string): Act =>
  acts.find(([prefix]) => messageId.startsWith(prefix))?.[1] ?? otherwise;

/** An agent that does what the kit's scenarios say. Plain SDK, so that it runs without us too. */
export class KitExecutor implements AgentExecutor {
  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const act = actFor(userMessage.messageId);
    const says = (value: string): Message =>
      Message.fromJSON({
        messageId: randomUUID(),
        role: 'ROLE_AGENT',
        parts: text(value),
        contextId,
      });
    const status = (state: TaskState, value?: string): TaskStatus => ({
      state,
      message: value === undefined ? undefined : { ...says(value), taskId },
      timestamp: new Date().toISOString(),
    });
    if (act.reply !== undefined) {
      bus.publish(AgentEvent.message(says(act.reply)));
      bus.finished();
      return;
    }
    const move = (state: TaskState, value?: string): void =>
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: status(state, value),
          metadata: undefined,
        }),
      );
    if (task === undefined) {
      const history = [userMessage];
      const first = { ...Task.fromJSON({}), id: taskId, contextId, history };
      bus.publish(AgentEvent.task({ ...first, status: status(TaskState.TASK_STATE_WORKING) }));
    } else {
      move(TaskState.TASK_STATE_WORKING);
    }
    const put = (id: string, parts: readonly object[], append: boolean, lastChunk: boolean) =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          append,
          lastChunk,
          metadata: undefined,
          artifact: {
            ...Artifact.fromJSON({ artifactId: id, name: id }),
            parts: parts.map((part) => Part.fromJSON(part)),
          },
        }),
      );
    for (const [index, parts] of (act.artifacts ?? []).entries()) {
      put(`artifact-${index}`, parts, false, true);
    }
    const chunks = act.chunks ?? [];
    for (const [index, chunk] of chunks.entries()) {
      put('chunked', text(chunk), index > 0, index === chunks.length - 1);
    }
    if (act.waits) await sleep(longMs);
    move(act.state ?? TaskState.TASK_STATE_COMPLETED, act.text);
    bus.finished();
  }

  cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const status = {
      state: TaskState.TASK_STATE_CANCELED,
      message: undefined,
      timestamp: new Date().toISOString(),
    };
    const data = { taskId, contextId: '', status, metadata: undefined };
    bus.publish(AgentEvent.statusUpdate(data));
    bus.finished();
    return Promise.resolve();
  }
}
