import { once } from 'node:events';
import {
  A2A_PROTOCOL_VERSION,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
  type AgentCard,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksResponse,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
} from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  ServerWritableStream,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { checkRequest, extensionMetadata, grpcContext, serviceError } from './grpc-call.ts';
import type { GrpcPackages } from './grpc-packages.ts';
import type { GrpcTarget } from './grpc-target.ts';
import type { Guard } from './guard.ts';
import type { StreamEvent } from './marks.ts';

export interface Method<Q, A> {
  /** Name on JSON-RPC, whose parameters are checked alike. */
  readonly rpc: string;
  readonly toJSON: (request: Q) => unknown;
  readonly run: (guard: Guard, request: Q, context: ServerCallContext) => A;
}

export type Events = AsyncGenerator<StreamEvent, void, undefined>;
type Unary<Q, A> = Method<Q, Promise<A>>;

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

/** A2A 10.3: unary calls and streams, each with the guard's method behind it. */
export const unary: UnaryMethods = {
  sendMessage: {
    rpc: 'SendMessage',
    toJSON: (request) => SendMessageRequest.toJSON(request),
    run: async (guard, request, context) => {
      const value = await guard.sendMessage(request, context);
      return {
        payload: 'status' in value ? { $case: 'task', value } : { $case: 'message', value },
      };
    },
  },
  getTask: {
    rpc: 'GetTask',
    toJSON: (request) => GetTaskRequest.toJSON(request),
    run: (guard, request, context) => guard.getTask(request, context),
  },
  listTasks: {
    rpc: 'ListTasks',
    toJSON: (request) => ListTasksRequest.toJSON(request),
    run: (guard, request, context) => guard.listTasks(request, context),
  },
  cancelTask: {
    rpc: 'CancelTask',
    toJSON: (request) => CancelTaskRequest.toJSON(request),
    run: (guard, request, context) => guard.cancelTask(request, context),
  },
  createTaskPushNotificationConfig: {
    rpc: 'CreateTaskPushNotificationConfig',
    toJSON: (request) => TaskPushNotificationConfig.toJSON(request),
    run: (guard, request, context) => guard.createTaskPushNotificationConfig(request, context),
  },
  getTaskPushNotificationConfig: {
    rpc: 'GetTaskPushNotificationConfig',
    toJSON: (request) => GetTaskPushNotificationConfigRequest.toJSON(request),
    run: (guard, request, context) => guard.getTaskPushNotificationConfig(request, context),
  },
  listTaskPushNotificationConfigs: {
    rpc: 'ListTaskPushNotificationConfigs',
    toJSON: (request) => ListTaskPushNotificationConfigsRequest.toJSON(request),
    run: (guard, request, context) => guard.listTaskPushNotificationConfigs(request, context),
  },
  deleteTaskPushNotificationConfig: {
    rpc: 'DeleteTaskPushNotificationConfig',
    toJSON: (request) => DeleteTaskPushNotificationConfigRequest.toJSON(request),
    run: async (guard, request, context) => {
      await guard.deleteTaskPushNotificationConfig(request, context);
      return {};
    },
  },
  getExtendedAgentCard: {
    rpc: 'GetExtendedAgentCard',
    toJSON: (request) => GetExtendedAgentCardRequest.toJSON(request),
    run: (guard, request, context) => guard.getAuthenticatedExtendedAgentCard(request, context),
  },
};

interface StreamingMethods {
  readonly sendStreamingMessage: Method<SendMessageRequest, Events>;
  readonly subscribeToTask: Method<SubscribeToTaskRequest, Events>;
}

export const streaming: StreamingMethods = {
  sendStreamingMessage: {
    rpc: 'SendStreamingMessage',
    toJSON: (request) => SendMessageRequest.toJSON(request),
    run: (guard, request, context) => guard.sendMessageStream(request, context),
  },
  subscribeToTask: {
    rpc: 'SubscribeToTask',
    toJSON: (request) => SubscribeToTaskRequest.toJSON(request),
    run: (guard, request, context) => guard.resubscribe(request, context),
  },
};

/** The handlers of the service; `target` is waited for, since its card names the port served on. */
export function grpcService(
  packages: GrpcPackages,
  target: Promise<GrpcTarget>,
): UntypedServiceImplementation {
  const answering =
    <Q, A>({ rpc, toJSON, run }: Method<Q, Promise<A>>): handleUnaryCall<Q, A> =>
    (call, callback) => {
      const answer = async (): Promise<A> => {
        const { guard, ports, card } = await target;
        const context = await grpcContext(call.metadata, ports, card, A2A_PROTOCOL_VERSION);
        checkRequest(rpc, toJSON(call.request));
        const result = await run(guard, call.request, context);
        call.sendMetadata(extensionMetadata(packages, context));
        return result;
      };
      const settle = async (): Promise<void> => {
        try {
          const result = await answer();
          callback(null, result);
        } catch (error) {
          callback(serviceError(packages, error));
        }
      };
      void settle();
    };

  const telling =
    <Q>({ rpc, toJSON, run }: Method<Q, Events>): handleServerStreamingCall<Q, StreamResponse> =>
    (call) => {
      const tell = async (): Promise<void> => {
        const { guard, ports, card } = await target;
        const context = await grpcContext(call.metadata, ports, card, A2A_PROTOCOL_VERSION);
        checkRequest(rpc, toJSON(call.request));
        await write(packages, call, run(guard, call.request, context), context);
      };
      tell().then(
        () => call.end(),
        (error: unknown) => call.emit('error', serviceError(packages, error)),
      );
    };

  return {
    sendMessage: answering(unary.sendMessage),
    getTask: answering(unary.getTask),
    listTasks: answering(unary.listTasks),
    cancelTask: answering(unary.cancelTask),
    createTaskPushNotificationConfig: answering(unary.createTaskPushNotificationConfig),
    getTaskPushNotificationConfig: answering(unary.getTaskPushNotificationConfig),
    listTaskPushNotificationConfigs: answering(unary.listTaskPushNotificationConfigs),
    deleteTaskPushNotificationConfig: answering(unary.deleteTaskPushNotificationConfig),
    getExtendedAgentCard: answering(unary.getExtendedAgentCard),
    sendStreamingMessage: telling(streaming.sendStreamingMessage),
    subscribeToTask: telling(streaming.subscribeToTask),
  };
}

async function write(
  packages: GrpcPackages,
  call: ServerWritableStream<unknown, StreamResponse>,
  events: Events,
  context: ServerCallContext,
): Promise<void> {
  let begun = false;
  for await (const { payload } of paced(call, events)) {
    if (!begun) call.sendMetadata(extensionMetadata(packages, context));
    begun = true;
    call.write({ payload });
  }
}

/**
 * Events for one who writes each as it comes: no faster than they are read; a reader that goes away
 * leaves the task to run on.
 */
export async function* paced(call: ServerWritableStream<unknown, unknown>, events: Events): Events {
  const gone = new AbortController();
  call.once('cancelled', () => {
    gone.abort();
    void events.return();
  });
  try {
    for await (const event of events) {
      if (call.cancelled) return;
      yield event;
      if (call.writableNeedDrain) await once(call, 'drain', { signal: gone.signal });
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}
