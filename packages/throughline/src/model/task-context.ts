import { z } from 'zod';

/** Status of a goal and of the whole; empty before execution. */
export const goalStatuses = ['', 'in-progress', 'completed', 'failed', 'cancelled'] as const;
export const goalStatus = z.enum(goalStatuses);
export type GoalStatus = z.infer<typeof goalStatus>;

const time = z.union([z.literal(''), z.iso.datetime({ offset: true })]);

/** TaskContext of draft-chang-agentproto-context-interaction-00, section 5.1; names as printed. */
export const taskContextSchema = z.object({
  TaskID: z.string().min(1),
  UserQuery: z.string(),
  TaskName: z.string(),
  TaskDescription: z.string(),
  GoalStatus: z.array(z.object({ Goal: z.string(), Status: goalStatus })),
  OverallStatus: goalStatus,
  StartTime: time.optional(),
  EndTime: time.optional(),
  Optional: z.array(z.enum(['StartTime', 'EndTime'])),
});
export type TaskContext = z.infer<typeof taskContextSchema>;

/**
 * OverallStatus follows from the goals: any failed, then failed; any cancelled, then cancelled; all
 * completed, then completed; none begun, then empty; else in progress.
 */
export function overallStatus(goals: TaskContext['GoalStatus']): GoalStatus {
  const statuses = goals.map((goal) => goal.Status);
  if (statuses.includes('failed')) return 'failed';
  if (statuses.includes('cancelled')) return 'cancelled';
  if (statuses.length > 0 && statuses.every((status) => status === 'completed')) return 'completed';
  return statuses.every((status) => status === '') ? '' : 'in-progress';
}
