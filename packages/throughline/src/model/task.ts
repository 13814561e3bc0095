import { z } from 'zod';
import { foreignId, idSchema, shortText } from './ids.ts';

export const taskStates = [
  'defined',
  'in-progress',
  'awaiting',
  'interrupted',
  'completed',
  'failed',
  'cancelled',
  'rejected',
  'timed-out',
] as const;
export const taskState = z.enum(taskStates);
export type TaskState = z.infer<typeof taskState>;

export const awaitingWhat = z.enum(['input', 'authorization', 'result']);
export type AwaitingWhat = z.infer<typeof awaitingWhat>;

export const finalTaskStates: readonly TaskState[] = [
  'completed',
  'failed',
  'cancelled',
  'rejected',
  'timed-out',
];

const open: readonly TaskState[] = ['in-progress', 'awaiting', 'interrupted', ...finalTaskStates];

/**
 * Steps that a Task may take. `timed-out` set by an observer gives way to the executor's word; that
 * exception is the fold's, not the table's.
 */
export const taskSteps: Readonly<Record<TaskState, readonly TaskState[]>> = {
  defined: open,
  'in-progress': open,
  awaiting: open,
  interrupted: open,
  completed: [],
  failed: [],
  cancelled: [],
  rejected: [],
  'timed-out': [],
};

/** A Task that does not go on, why, and whose step it is. */
export const stuckTaskSchema = z.object({
  task: idSchema('task'),
  why: z.enum([
    'outcome-unknown',
    'interrupted',
    'awaiting-input',
    'awaiting-authorization',
    'nothing-awaited',
    'dialog-ended',
    /** It was handed to somebody whom nobody could reach yet. */
    'not-reached',
  ]),
  /** Participants; none where it is not known. */
  whose: z.array(idSchema('participant')),
});
export type StuckTask = z.infer<typeof stuckTaskSchema>;

/** A fact beside a Task's one state; `by` is what makes it so, where that is another object. */
export const taskModifierSchema = z.object({
  task: idSchema('task'),
  modifier: z.enum([
    'cancel-requested',
    'unresolved',
    'superseded',
    'delegated',
    'modified',
    'retried',
  ]),
  by: z.string().optional(),
});
export type TaskModifier = z.infer<typeof taskModifierSchema>;

/** How we know: said by a participant about its own work, seen by a peer, or by a supervisor. */
export const basis = z.enum(['reported', 'observed', 'supervised']);
export type Basis = z.infer<typeof basis>;

/** One party's word about a state that another party contests. */
export const statementOfState = z.object({
  source: z.string(),
  basis,
  state: z.string(),
  seq: z.int(),
});

export const taskSchema = z.object({
  id: idSchema('task'),
  dialog: idSchema('dialog'),
  activity: idSchema('activity'),
  objective: shortText.optional(),
  state: taskState,
  awaiting: awaitingWhat.optional(),
  /** `error`: completed, with a result that says the work went wrong. */
  outcome: z.enum(['ok', 'error']).optional(),
  localId: foreignId.optional(),
  /** Facts of their own, beside the one state. */
  cancelRequested: z.boolean().optional(),
  unresolved: z.boolean().optional(),
  /** Whose word and on which basis the state rests. */
  stateBasis: basis.optional(),
  stateSource: z.string().optional(),
  stateSeq: z.int().optional(),
  /** Set when others say something else; their words stay readable here. */
  contested: z.array(statementOfState).max(16).optional(),
});
export type Task = z.infer<typeof taskSchema>;
