import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { Caller } from '../../model/principal.ts';

/** Fields by which requests name the task that they are about. */
interface Named {
  readonly tenant: string;
  readonly id?: string;
  readonly taskId?: string;
}

/**
 * A tenant in a request is a claim, never an identity: the caller's own or none passes, any other
 * answers as what does not exist does. Throws TaskNotFound.
 */
export function ownTenant({ principal }: Caller, { tenant, taskId, id }: Named): void {
  if (tenant === '' || tenant === principal.tenant) return;
  const task = taskId ?? id;
  throw new TaskNotFoundError(task === undefined ? 'Tenant not found' : `Task not found: ${task}`);
}
