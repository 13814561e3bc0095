import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { UnsupportedOperationError } from '@a2a-js/sdk/errors';
import {
  DefaultRequestHandler,
  type A2ARequestHandler,
  type ServerCallContext,
} from '@a2a-js/sdk/server';
import { recordFor, withHistory, type AgentSide } from './agent-side.ts';
import { callerOf, cursorOf, noteSeq, wantsMarks } from './call.ts';
import { cancelTask } from './cancelling.ts';
import { toA2aError } from './errors.ts';
import { withMark, type StreamEvent } from './marks.ts';
import { PushConfigs } from './push-configs.ts';
import { Sending } from './sending.ts';
import { ownTenant } from './tenant.ts';
import { taskOf } from './task-store.ts';
import { isFinal, stateOf } from './wire.ts';

/** Errors leave as the SDK's, which every transport of it puts on its own wire. */
async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toA2aError(error);
  }
}

async function* streaming(
  context: ServerCallContext,
  work: () => AsyncGenerator<StreamEvent, void, undefined>,
): AsyncGenerator<StreamEvent, void, undefined> {
  try {
    for await (const event of work()) {
      noteSeq(context, event.mark?.seq);
      yield wantsMarks(context) ? withMark(event) : event;
    }
  } catch (error) {
    throw toA2aError(error);
  }
}

/**
 * The SDK's request handler with a hub behind it: no method does anything for a call without a
 * caller, sends are admitted before anything is written, and every read is with the caller's rights.
 *
 * Reading and refusing is the SDK's own handler. Sending is not: there whoever reads the stream also
 * stores it, so that a reader who leaves stops the task; see LiveTask.
 */
export class Guard implements A2ARequestHandler {
  readonly #side: AgentSide;
  readonly #inner: DefaultRequestHandler;
  readonly #sending: Sending;
  readonly #push: PushConfigs;

  constructor(side: AgentSide) {
    this.#side = side;
    this.#inner = new DefaultRequestHandler(side.card, side.store, side.executor);
    this.#sending = new Sending(side);
    this.#push = new PushConfigs(side);
  }

  getAgentCard(): Promise<AgentCard> {
    return this.#inner.getAgentCard();
  }

  /** Only for callers with an identity, like everything else; UnsupportedOperation without one. */
  getAuthenticatedExtendedAgentCard(
    params: GetExtendedAgentCardRequest,
    context: ServerCallContext,
  ): Promise<AgentCard> {
    return this.#known(context, params, () => {
      const { extendedCard } = this.#side;
      if (extendedCard !== undefined) return Promise.resolve(extendedCard);
      return this.#inner.getAuthenticatedExtendedAgentCard(params, context);
    });
  }

  sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    return this.#known(context, params, async () => {
      const { configuration } = params;
      const answer = await this.#sending.send(params, context);
      return 'status' in answer ? withHistory(answer, configuration?.historyLength) : answer;
    });
  }

  sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamEvent, void, undefined> {
    const { card } = this.#side;
    const sending = this.#sending;
    return streaming(context, async function* send() {
      ownTenant(callerOf(context), params);
      if (card.capabilities?.streaming !== true) {
        throw new UnsupportedOperationError('this agent does not stream; use SendMessage');
      }
      for await (const event of sending.stream(params, context)) {
        const { payload } = event;
        yield payload?.$case === 'task'
          ? {
              ...event,
              payload: {
                $case: 'task',
                value: withHistory(payload.value, params.configuration?.historyLength),
              },
            }
          : event;
      }
    });
  }

  getTask(params: GetTaskRequest, context: ServerCallContext): Promise<Task> {
    return this.#known(context, params, async () => {
      const record = await recordFor(this.#side, callerOf(context), params.id);
      return withHistory(taskOf(record), params.historyLength);
    });
  }

  cancelTask(params: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
    return this.#known(context, params, () => cancelTask(this.#side, callerOf(context), params.id));
  }

  resubscribe(
    params: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamEvent, void, undefined> {
    const side = this.#side;
    const sending = this.#sending;
    return streaming(context, async function* subscribe() {
      const caller = callerOf(context);
      ownTenant(caller, params);
      if (side.card.capabilities?.streaming !== true) {
        throw new UnsupportedOperationError('this agent does not stream; poll GetTask');
      }
      const record = await recordFor(side, caller, params.id, 'subscribe');
      if (isFinal(stateOf(taskOf(record)))) {
        throw new UnsupportedOperationError(
          `task ${params.id} is over; read it with GetTask, go on with a new message in its context ${record.contextId}`,
        );
      }
      yield* sending.follow(record, caller, cursorOf(context));
    });
  }

  listTasks(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return this.#known(context, params, async () => {
      const page = await this.#inner.listTasks({ ...params, historyLength: undefined }, context);
      const tasks = page.tasks.map((task) => withHistory(task, params.historyLength));
      return { ...page, tasks };
    });
  }

  createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    return this.#known(context, params, () =>
      this.#push.create(callerOf(context), params, context.requestedVersion),
    );
  }

  getTaskPushNotificationConfig(
    params: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    return this.#known(context, params, () => this.#push.get(callerOf(context), params));
  }

  listTaskPushNotificationConfigs(
    params: ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#known(context, params, () => this.#push.list(callerOf(context), params));
  }

  deleteTaskPushNotificationConfig(
    params: DeleteTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<void> {
    return this.#known(context, params, () => this.#push.delete(callerOf(context), params));
  }

  #known<T>(
    context: ServerCallContext,
    params: { readonly tenant: string },
    work: () => Promise<T>,
  ): Promise<T> {
    return answering(async () => {
      ownTenant(callerOf(context), params);
      return work();
    });
  }
}
