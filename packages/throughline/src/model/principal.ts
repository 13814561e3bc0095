import { z } from 'zod';
import { foreignId } from './ids.ts';

/**
 * Who is calling, as established by authentication and by nothing else.
 * `operator` may see and manage its whole tenant; `agent` may act for callers whose credential it
 * was handed and for its own tasks; `caller` owns what it began.
 */
export const roles = ['caller', 'agent', 'operator'] as const;

export const principalSchema = z.object({
  tenant: foreignId,
  id: foreignId,
  role: z.enum(roles),
  /**
   * Set where the credential was made for calling one agent: it tells that agent who calls, and
   * opens nothing but that agent's own tasks.
   */
  audience: foreignId.exactOptional(),
});

export type Principal = z.infer<typeof principalSchema>;

/** A principal and the credential it came with; the credential is passed on only to our own hub. */
export interface Caller {
  readonly principal: Principal;
  readonly credential?: string;
}
