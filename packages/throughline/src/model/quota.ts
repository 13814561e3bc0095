import { z } from 'zod';

/** What may be bounded; absent: no bound. */
export const quotaNames = [
  /** Contexts that are not over. */
  'contexts',
  /** Tasks that are not over. */
  'openTasks',
  /** Bytes of offloaded content. */
  'bytes',
  /** Grants in force. */
  'grants',
  /** API keys that are not revoked. */
  'keys',
  /** Messages let in within any 60 seconds. */
  'messagesPerMinute',
] as const;
export type QuotaName = (typeof quotaNames)[number];

const bound = z.int().nonnegative().exactOptional();
export const quotaLimitsSchema = z.strictObject({
  contexts: bound,
  openTasks: bound,
  bytes: bound,
  grants: bound,
  keys: bound,
  messagesPerMinute: bound,
});
export type QuotaLimits = z.infer<typeof quotaLimitsSchema>;

/** Bounds for a tenant as a whole, and for each of its principals. */
export const quotasSchema = z.object({
  tenant: quotaLimitsSchema,
  principal: quotaLimitsSchema,
});
export type Quotas = z.infer<typeof quotasSchema>;

const used = z.partialRecord(z.enum(quotaNames), z.int().nonnegative());
export const quotaReportSchema = z.object({
  limits: quotasSchema,
  used: z.object({
    tenant: used,
    /** Of the principal that was asked for. */
    principal: used.exactOptional(),
  }),
});
export type QuotaReport = z.infer<typeof quotaReportSchema>;
