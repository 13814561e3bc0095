import type { SubtaskState } from './run-state.ts';

/** What a run tells while it goes; each after the decision behind it was written. */
export type RunEvent =
  | {
      readonly kind: 'subtask-started';
      readonly subtask: string;
      readonly agent: string;
      /** 1 for the first. */
      readonly attempt: number;
      readonly dialog: string;
      readonly task: string;
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
      readonly kind: 'attempt-ended';
      readonly subtask: string;
      readonly task: string;
      readonly outcome: 'answered' | 'failed' | 'unresolved';
      readonly reason?: string;
    }
  | {
      readonly kind: 'subtask-finished';
      readonly subtask: string;
      readonly status: SubtaskState['status'];
    };

export type OnEvent = (event: RunEvent) => void;
