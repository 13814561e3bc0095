import { z } from 'zod';
import type { Caller as Acting } from '../model/principal.ts';
import { pushConfigSchema, type PushConfig } from '../model/push-config.ts';
import { segment, type Call, type Caller } from './call.ts';
import { handedOn } from './handed-on.ts';

/** What sending push notifications needs of its hub, over HTTP. */
export interface PushCalls {
  /** Keeps one of the caller's own, over an equal id. `quota` when the task has too many. */
  savePushConfig(caller: Acting, config: PushConfig): Promise<void>;
  /** The caller's own; to the executing agent all of its task, or without a task those due. */
  loadPushConfigs(caller: Acting, query: { taskId?: string }): Promise<PushConfig[]>;
  deletePushConfig(caller: Acting, taskId: string, id: string): Promise<void>;
  /** The end of the task was told to that one, or given up. */
  settlePushConfig(
    caller: Acting,
    config: { taskId: string; id: string; owner: string },
  ): Promise<void>;
}

const configs = z.object({ configs: z.array(pushConfigSchema) });

/** A config as its owner sends it with the write of its task. */
export const ownConfig = ({ owner: _owner, taskId: _task, ...config }: PushConfig): object =>
  config;

const pathOf = (taskId: string, id: string): string =>
  `/tasks/${segment(taskId)}/push-configs/${segment(id)}`;

export const pushCalls = (hub: Caller): PushCalls => ({
  async savePushConfig(caller, { owner: _owner, taskId, id, ...json }) {
    const path = pathOf(taskId, id);
    await hub.nothing({ method: 'PUT', path, json, idempotent: true, headers: handedOn(caller) });
  },
  async loadPushConfigs(caller, { taskId }) {
    const call: Call =
      taskId === undefined
        ? { method: 'POST', path: '/push-deliveries' }
        : { method: 'GET', path: `/tasks/${segment(taskId)}/push-configs` };
    return (await hub.json({ ...call, headers: handedOn(caller) }, configs)).configs;
  },
  async deletePushConfig(caller, taskId, id) {
    await hub.nothing({ method: 'DELETE', path: pathOf(taskId, id), headers: handedOn(caller) });
  },
  async settlePushConfig(caller, { taskId, id, owner }) {
    const path = `${pathOf(taskId, id)}/settlement`;
    const call = { method: 'POST', path, json: { owner }, idempotent: true } as const;
    await hub.nothing({ ...call, headers: handedOn(caller) });
  },
});
