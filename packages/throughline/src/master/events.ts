import type { Decision, StopAnswer, SubtaskStatus } from '../model/run.ts';

/** What a run tells while it goes; each after the decision behind it was written. */
export type RunEvent =
  | {
      readonly kind: 'run-began';
      readonly runId: string;
      readonly subtasks: readonly PlannedSubtask[];
    }
  | {
      readonly kind: 'subtask-started';
      readonly subtask: string;
      readonly agent: string;
      /** 1 for the first. */
      readonly attempt: number;
      readonly dialog: string;
      readonly task: string;
      /** Resource with the requirement in force; absent: the request's own. */
      readonly requirement?: string;
    }
  | {
      /** Once when it is found out; the Master goes on trying until the deadline. */
      readonly kind: 'agent-not-reached';
      readonly subtask: string;
      readonly agent: string;
      readonly reason: string;
      readonly deadline: string;
    }
  | {
      readonly kind: 'handover-counted';
      readonly subtask: string;
      readonly agent: string;
      readonly task: string;
      /** Tokens. */
      readonly sent: number;
      readonly fullHistory: number;
      readonly withheld: readonly string[];
    }
  | {
      readonly kind: 'item-state';
      readonly subtask: string;
      readonly item: string;
      readonly state: 0 | 1;
    }
  | {
      readonly kind: 'question';
      readonly id: string;
      /** Absent: the Master itself asks about a limit. */
      readonly subtask?: string;
      readonly text: string;
    }
  | { readonly kind: 'answered'; readonly id: string; readonly subtask?: string }
  | {
      readonly kind: 'attempt-ended';
      readonly subtask: string;
      readonly task: string;
      readonly outcome: 'answered' | 'failed' | 'unresolved' | 'stopped';
      readonly reason?: string;
      /** What came of asking it to stop. */
      readonly stop?: StopAnswer;
      readonly requirement?: string;
    }
  | {
      readonly kind: 'subtask-finished';
      readonly subtask: string;
      readonly status: SubtaskStatus;
    }
  | {
      readonly kind: 'interrupted';
      readonly id: string;
      /** Resource with the requirement in force from now on, for whom it concerns. */
      readonly requirement: string;
      readonly decisions: readonly { readonly subtask: string; readonly decision: Decision }[];
      readonly subtasks: readonly PlannedSubtask[];
    }
  | {
      /** What the user said could not be taken. */
      readonly kind: 'message-refused';
      readonly id: string;
      readonly reason: string;
    }
  | {
      readonly kind: 'run-ending';
      readonly status: 'failed' | 'cancelled';
      readonly reason: string;
    };

export interface PlannedSubtask {
  readonly id: string;
  readonly name: string;
  readonly agent: string;
  readonly status: SubtaskStatus;
  /** 1 for the first; 0 before it was begun. */
  readonly attempt: number;
  readonly items: readonly { readonly id: string; readonly description: string }[];
}

export type OnEvent = (event: RunEvent) => void;
