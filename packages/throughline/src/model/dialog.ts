import { z } from 'zod';
import { foreignId, idSchema, shortText } from './ids.ts';

export const dialogStates = [
  'initiating',
  'active',
  'interrupted',
  'suspended',
  'terminated',
] as const;
export const dialogState = z.enum(dialogStates);
export type DialogState = z.infer<typeof dialogState>;

export const dialogEndReasons = [
  'completed',
  'failed',
  'cancelled',
  'rejected',
  'expired',
  'replaced',
  'revoked',
] as const;
export const dialogEndReason = z.enum(dialogEndReasons);
export type DialogEndReason = z.infer<typeof dialogEndReason>;

/** Steps that a Dialog may take. An end that was signalled has no way out. */
export const dialogSteps: Readonly<Record<DialogState, readonly DialogState[]>> = {
  initiating: ['active', 'interrupted', 'suspended', 'terminated'],
  active: ['interrupted', 'suspended', 'terminated'],
  interrupted: ['active', 'terminated'],
  suspended: ['active', 'terminated'],
  terminated: [],
};

/** Who keeps the correlation of a Dialog: us, another named protocol, or nobody. */
export const management = z.enum(['ours', 'other', 'none']);

/** What the protocol in use calls the Dialog; means nothing outside it. */
export const localContextSchema = z.object({
  protocol: z.enum(['a2a', 'mcp', 'aci']),
  localId: foreignId,
  endpoint: shortText.optional(),
});
export type LocalContext = z.infer<typeof localContextSchema>;

export const dialogSchema = z.object({
  id: idSchema('dialog'),
  activity: idSchema('activity'),
  participants: z.array(idSchema('participant')).min(1).max(64),
  /** Who opened it; stays when it leaves. Absent where upstream is withheld or unmanaged. */
  invoker: idSchema('participant').optional(),
  objective: shortText.optional(),
  managed: management,
  state: dialogState,
  reason: dialogEndReason.optional(),
  /** The end was only inferred; later evidence withdraws it. */
  endInferred: z.boolean().optional(),
  /** Latest first; an earlier one is kept when a rebind attaches another. */
  local: z.array(localContextSchema).max(16),
});
export type Dialog = z.infer<typeof dialogSchema>;
