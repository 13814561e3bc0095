import { randomUUID } from 'node:crypto';
import type {
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { PushNotificationNotSupportedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { foreignId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { Caller } from '../../model/principal.ts';
import { pushConfigSchema, type PushConfig } from '../../model/push-config.ts';
import type { AgentSide } from './agent-side.ts';
import type { Push } from './push-sender.ts';

/** A client's wish to be told, with its address checked; throws `invalid` naming what is at fault. */
export function pushConfigOf(
  push: Push,
  wire: TaskPushNotificationConfig,
  protocolVersion: string,
  id: string,
): Omit<PushConfig, 'taskId'> {
  const { url, token, authentication } = wire;
  const parsed = pushConfigSchema.omit({ taskId: true }).safeParse({
    id,
    url,
    ...(token === '' ? {} : { token }),
    ...(authentication === undefined ? {} : { authentication }),
    protocolVersion,
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join('.') ?? '';
    throw new ThroughlineError(
      'invalid',
      `push config ${where}: ${issue?.message ?? 'is malformed'}`,
    );
  }
  push.sender.check(url);
  return parsed.data;
}

const toWire = (config: PushConfig, tenant: string): TaskPushNotificationConfig => ({
  tenant,
  id: config.id,
  taskId: config.taskId,
  url: config.url,
  token: config.token ?? '',
  authentication: config.authentication,
});

const pageSchema = z.object({
  pageSize: z.int().min(0).max(limits.pageSize),
  pageToken: z.string().regex(/^\d{0,4}$/),
});

/** Push notification configs of one agent's tasks; each caller has its own and sees no others. */
export class PushConfigs {
  readonly #side: AgentSide;

  constructor(side: AgentSide) {
    this.#side = side;
  }

  async create(
    caller: Caller,
    params: TaskPushNotificationConfig,
    protocolVersion: string,
  ): Promise<TaskPushNotificationConfig> {
    const push = this.#push();
    const { taskId } = params;
    const id = params.id === '' ? randomUUID() : params.id;
    const config = { ...pushConfigOf(push, params, protocolVersion, id), taskId };
    await push.ports.savePushConfig(caller, config);
    // It may have ended since its changes were last told.
    const owner = caller.principal.id;
    void this.#side.deliveries
      ?.tellEnd(taskId, [{ ...config, owner }])
      .catch((error: unknown) => this.#side.onFault(error, { taskId }));
    return toWire(config, params.tenant);
  }

  async get(
    caller: Caller,
    { tenant, taskId, id }: GetTaskPushNotificationConfigRequest,
  ): Promise<TaskPushNotificationConfig> {
    const found = (await this.#own(caller, taskId)).find((config) => config.id === id);
    if (found === undefined) {
      const text = `Push notification config not found: ${id.slice(0, 64)}`;
      throw new ThroughlineError('not-found', text);
    }
    return toWire(found, tenant);
  }

  async list(
    caller: Caller,
    { tenant, taskId, pageSize, pageToken }: ListTaskPushNotificationConfigsRequest,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    if (!pageSchema.safeParse({ pageSize, pageToken }).success) {
      throw new ThroughlineError('invalid', 'pageSize or pageToken: is not one');
    }
    const all = await this.#own(caller, taskId);
    const from = Number(pageToken);
    const to = from + (pageSize === 0 ? all.length : pageSize);
    return {
      configs: all.slice(from, to).map((config) => toWire(config, tenant)),
      nextPageToken: to < all.length ? String(to) : '',
    };
  }

  async delete(
    caller: Caller,
    { taskId, id }: DeleteTaskPushNotificationConfigRequest,
  ): Promise<void> {
    const push = this.#push();
    if (!foreignId.safeParse(id).success) {
      throw new ThroughlineError('invalid', 'id: is no id of a push config');
    }
    await push.ports.deletePushConfig(caller, taskId, id);
  }

  async #own(caller: Caller, taskId: string): Promise<readonly PushConfig[]> {
    const push = this.#push();
    const all = await push.ports.loadPushConfigs(caller, { taskId });
    // An agent that calls itself sees all for sending; as a caller it has its own.
    return all.filter(({ owner }) => owner === caller.principal.id);
  }

  #push(): Push {
    const { push } = this.#side;
    if (push === undefined) throw new PushNotificationNotSupportedError();
    return push;
  }
}
