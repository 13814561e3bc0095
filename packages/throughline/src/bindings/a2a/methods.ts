import {
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
  SendMessageRequest,
  SendMessageResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import type { Guard } from './guard.ts';
import type { StreamEvent } from './marks.ts';

export type Events = AsyncGenerator<StreamEvent, void, undefined>;

type Run<Q, A> = (guard: Guard, request: Q, context: ServerCallContext) => A;

/** A method of A2A 1.0 (A2A 3.1), the same behind each binding. */
export interface Method<Q, A> {
  /** Its name on JSON-RPC and gRPC. */
  readonly rpc: string;
  /** A request of protobuf as JSON. */
  readonly toJSON: (request: Q) => unknown;
  readonly run: Run<Q, A>;
}

/** With its parameters as JSON, which were checked; a unary one answers in JSON, too. */
interface Unary<Q, A> extends Method<Q, Promise<A>> {
  readonly answer: Run<unknown, Promise<unknown>>;
}
interface Streaming<Q> extends Method<Q, Events> {
  readonly events: Run<unknown, Events>;
}

interface Requests<Q> {
  readonly fromJSON: (json: unknown) => Q;
  readonly toJSON: (request: Q) => unknown;
}

interface Answers<Q, A> {
  readonly toJSON: (answer: A, request: Q) => unknown;
}

const unary = <Q, A>(
  rpc: string,
  requests: Requests<Q>,
  answers: Answers<Q, A>,
  run: Run<Q, Promise<A>>,
): Unary<Q, A> => ({
  rpc,
  toJSON: (request) => requests.toJSON(request),
  run,
  async answer(guard, params, context) {
    const request = requests.fromJSON(params);
    return answers.toJSON(await run(guard, request, context), request);
  },
});

const streaming = <Q>(rpc: string, requests: Requests<Q>, run: Run<Q, Events>): Streaming<Q> => ({
  rpc,
  toJSON: (request) => requests.toJSON(request),
  run,
  events: (guard, params, context) => run(guard, requests.fromJSON(params), context),
});

const object = z.record(z.string(), z.unknown());

/** The SDK leaves out what is empty, where the standard says that it is always there. */
function listJson(page: ListTasksResponse, { includeArtifacts }: ListTasksRequest): unknown {
  const { tasks = [], ...others } = object.parse(ListTasksResponse.toJSON(page));
  const each = z.array(object).parse(tasks);
  return {
    nextPageToken: '',
    pageSize: 0,
    totalSize: 0,
    ...others,
    tasks: includeArtifacts === true ? each.map((task) => ({ artifacts: [], ...task })) : each,
  };
}

const configListJson = (page: ListTaskPushNotificationConfigsResponse): unknown => ({
  configs: [],
  ...object.parse(ListTaskPushNotificationConfigsResponse.toJSON(page)),
});

interface UnaryMethods {
  readonly sendMessage: Unary<SendMessageRequest, SendMessageResponse>;
  readonly getTask: Unary<GetTaskRequest, Task>;
  readonly listTasks: Unary<ListTasksRequest, ListTasksResponse>;
  readonly cancelTask: Unary<CancelTaskRequest, Task>;
  readonly createTaskPushNotificationConfig: Unary<
    TaskPushNotificationConfig,
    TaskPushNotificationConfig
  >;
  readonly getTaskPushNotificationConfig: Unary<
    GetTaskPushNotificationConfigRequest,
    TaskPushNotificationConfig
  >;
  readonly listTaskPushNotificationConfigs: Unary<
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse
  >;
  readonly deleteTaskPushNotificationConfig: Unary<DeleteTaskPushNotificationConfigRequest, object>;
  readonly getExtendedAgentCard: Unary<GetExtendedAgentCardRequest, AgentCard>;
}

export const unaryMethods: UnaryMethods = {
  sendMessage: unary(
    'SendMessage',
    SendMessageRequest,
    SendMessageResponse,
    async (guard, request, context) => {
      const value = await guard.sendMessage(request, context);
      return {
        payload: 'status' in value ? { $case: 'task', value } : { $case: 'message', value },
      };
    },
  ),
  getTask: unary('GetTask', GetTaskRequest, Task, (guard, request, context) =>
    guard.getTask(request, context),
  ),
  listTasks: unary('ListTasks', ListTasksRequest, { toJSON: listJson }, (guard, request, context) =>
    guard.listTasks(request, context),
  ),
  cancelTask: unary('CancelTask', CancelTaskRequest, Task, (guard, request, context) =>
    guard.cancelTask(request, context),
  ),
  createTaskPushNotificationConfig: unary(
    'CreateTaskPushNotificationConfig',
    TaskPushNotificationConfig,
    TaskPushNotificationConfig,
    (guard, request, context) => guard.createTaskPushNotificationConfig(request, context),
  ),
  getTaskPushNotificationConfig: unary(
    'GetTaskPushNotificationConfig',
    GetTaskPushNotificationConfigRequest,
    TaskPushNotificationConfig,
    (guard, request, context) => guard.getTaskPushNotificationConfig(request, context),
  ),
  listTaskPushNotificationConfigs: unary(
    'ListTaskPushNotificationConfigs',
    ListTaskPushNotificationConfigsRequest,
    { toJSON: configListJson },
    (guard, request, context) => guard.listTaskPushNotificationConfigs(request, context),
  ),
  deleteTaskPushNotificationConfig: unary(
    'DeleteTaskPushNotificationConfig',
    DeleteTaskPushNotificationConfigRequest,
    { toJSON: () => null },
    async (guard, request, context) => {
      await guard.deleteTaskPushNotificationConfig(request, context);
      return {};
    },
  ),
  getExtendedAgentCard: unary(
    'GetExtendedAgentCard',
    GetExtendedAgentCardRequest,
    AgentCard,
    (guard, request, context) => guard.getAuthenticatedExtendedAgentCard(request, context),
  ),
};

interface StreamingMethods {
  readonly sendStreamingMessage: Streaming<SendMessageRequest>;
  readonly subscribeToTask: Streaming<SubscribeToTaskRequest>;
}

export const streamingMethods: StreamingMethods = {
  sendStreamingMessage: streaming(
    'SendStreamingMessage',
    SendMessageRequest,
    (guard, request, context) => guard.sendMessageStream(request, context),
  ),
  subscribeToTask: streaming('SubscribeToTask', SubscribeToTaskRequest, (guard, request, context) =>
    guard.resubscribe(request, context),
  ),
};

type Served = Pick<Unary<unknown, unknown>, 'answer'> | Pick<Streaming<unknown>, 'events'>;

const byName: ReadonlyMap<string, Served> = new Map<string, Served>(
  [...Object.values(unaryMethods), ...Object.values(streamingMethods)].map((method) => [
    method.rpc,
    method,
  ]),
);

/** A method by its name, for bindings that speak JSON. */
export const methodNamed = (rpc: string): Served | undefined => byName.get(rpc);
