import type { Artifact, StreamResponse, Task } from '@a2a-js/sdk';
import type { AgentExecutionEvent } from '@a2a-js/sdk/server';

const updateOf = (task: Task, artifact: Artifact): StreamResponse => ({
  payload: {
    $case: 'artifactUpdate',
    value: {
      taskId: task.id,
      contextId: task.contextId,
      artifact,
      append: false,
      lastChunk: true,
      metadata: undefined,
    },
  },
});

export const statusUpdateOf = (task: Task): StreamResponse => ({
  payload: {
    $case: 'statusUpdate',
    value: {
      taskId: task.id,
      contextId: task.contextId,
      status: task.status,
      metadata: task.metadata,
    },
  },
});

/** How a task that changed is shown to one who has it already. */
export const updatesOf = (task: Task, artifacts: readonly Artifact[]): StreamResponse[] => [
  ...artifacts.map((artifact) => updateOf(task, artifact)),
  statusUpdateOf(task),
];

/** An event as a stream shows it to one who has the Task. */
export function responsesTo(
  event: AgentExecutionEvent,
  stored: Task | undefined,
): StreamResponse[] {
  if (event.kind === 'message') return [{ payload: { $case: 'message', value: event.data } }];
  if (event.kind === 'task') return updatesOf(stored ?? event.data, event.data.artifacts);
  return event.kind === 'statusUpdate'
    ? [{ payload: { $case: 'statusUpdate', value: event.data } }]
    : [{ payload: { $case: 'artifactUpdate', value: event.data } }];
}
