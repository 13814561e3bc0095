import { z } from 'zod';
import { foreignId, timestamp } from './ids.ts';
import { limits } from './limits.ts';
import { awaitingWhat, taskState } from './task.ts';

/** A protocol's own record of one of its tasks, kept beside the graph and written with it. */
export const taskRecordSchema = z.object({
  /** Protocol-local id (A2A taskId), made by the server. */
  id: foreignId,
  contextId: foreignId,
  /** Principal id of the agent that executes it. */
  agent: foreignId,
  /** 0 for one that is not stored yet; a write with another than the stored one is a conflict. */
  version: z.int().nonnegative(),
  state: taskState,
  awaiting: awaitingWhat.optional(),
  statusAt: timestamp,
  /** Message that began it: binds the message's idempotency key to this task. */
  messageId: foreignId.optional(),
  /** Process of the agent that writes it, as it says that it is alive; not given back. */
  worker: foreignId.optional(),
  /** Principal id of the caller that owns it; set by the hub. */
  owner: foreignId.optional(),
  /** The wire's own form, opaque to the hub, kept encrypted. */
  body: z.unknown(),
});
export type TaskRecord = z.infer<typeof taskRecordSchema>;

export const taskQuerySchema = z.object({
  contextId: foreignId.optional(),
  state: taskState.optional(),
  awaiting: awaitingWhat.optional(),
  /** Inclusive. */
  statusFrom: timestamp.optional(),
  /** Only those of this executing agent: to find what a restart left open. */
  agent: foreignId.optional(),
  unfinished: z.boolean().optional(),
  pageSize: z.int().min(1).max(limits.pageSize).default(50),
  /** Sealed; bound to tenant, caller and filter. */
  cursor: z.string().max(2_048).optional(),
});
export type TaskQuery = z.input<typeof taskQuerySchema>;

export const taskPageSchema = z.object({
  tasks: z.array(taskRecordSchema),
  /** Before paging. */
  total: z.int().nonnegative(),
  cursor: z.string().optional(),
});
export type TaskPage = z.infer<typeof taskPageSchema>;
