import type { RunEvent } from './events.ts';

/** An event in a line of words, for whoever watches; undefined for what says little. */
export function describeEvent(event: RunEvent): string | undefined {
  switch (event.kind) {
    case 'subtask-started':
      return `${event.subtask}: ${event.agent} begins${event.attempt > 1 ? ` (try ${event.attempt})` : ''}`;
    case 'agent-not-reached':
      return `${event.subtask}: ${event.agent} is not reached, tried until ${event.deadline}: ${event.reason}`;
    case 'handover-counted':
      return `${event.subtask}: ${event.sent} tokens handed over, the full history has ${event.fullHistory}`;
    case 'item-state':
      return `${event.subtask}: item ${event.item} ${event.state === 1 ? 'done' : 'open again'}`;
    case 'question':
      return `${event.subtask ?? 'the Master'} asks: ${event.text}`;
    case 'answered':
      return `${event.subtask ?? 'the Master'} is answered`;
    case 'attempt-ended':
      return event.outcome === 'answered'
        ? undefined
        : `${event.subtask}: ${event.outcome}${event.reason === undefined ? '' : `: ${event.reason}`}`;
    case 'subtask-finished':
      return `${event.subtask}: ${event.status}`;
    case 'interrupted':
      return `a later requirement: ${event.decisions.map(({ subtask, decision }) => `${decision} ${subtask}`).join(', ')}`;
    case 'message-refused':
      return `a message could not be taken: ${event.reason}`;
    case 'run-ending':
      return `the run ends: ${event.reason}`;
    case 'run-began':
      return `run ${event.runId}: ${event.subtasks.length} ${event.subtasks.length === 1 ? 'subtask' : 'subtasks'}`;
    default:
      return event satisfies never;
  }
}
