import { once } from 'node:events';
import {
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
  type SendMessageResponse,
} from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  ServerWritableStream,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { StreamResponse } from '@a2a-js/sdk';
import { checkRequest, extensionMetadata, grpcContext, serviceError } from './grpc-call.ts';
import type { GrpcPackages } from './grpc-packages.ts';
import type { Guard } from './guard.ts';
import { wantsMarks } from './http-call.ts';
import { withMark, type StreamEvent } from './marks.ts';
import type { A2aPorts } from './ports.ts';

/** One agent as a gRPC service reaches it. */
export interface GrpcTarget {
  readonly guard: Guard;
  readonly ports: Pick<A2aPorts, 'authenticate'>;
  readonly card: AgentCard;
}

interface Method<Q, A> {
  /** Name on JSON-RPC, whose parameters are checked alike. */
  readonly rpc: string;
  readonly toJSON: (request: Q) => unknown;
  readonly run: (guard: Guard, request: Q, context: ServerCallContext) => A;
}

const method = <Q, A>(definition: Method<Q, A>): Method<Q, A> => definition;
type Events = AsyncGenerator<StreamEvent, void, undefined>;

/** A2A 10.3: unary calls and streams, each with the guard's method behind it. */
const unary = {
  sendMessage: method({
    rpc: 'SendMessage',
    toJSON: (request: SendMessageRequest) => SendMessageRequest.toJSON(request),
    run: async (guard, request: SendMessageRequest, context): Promise<SendMessageResponse> => {
      const value = await guard.sendMessage(request, context);
      const payload =
        'status' in value
          ? ({ $case: 'task', value } as const)
          : ({ $case: 'message', value } as const);
      return { payload };
    },
  }),
  getTask: method({
    rpc: 'GetTask',
    toJSON: (request: GetTaskRequest) => GetTaskRequest.toJSON(request),
    run: (guard, request: GetTaskRequest, context) => guard.getTask(request, context),
  }),
  listTasks: method({
    rpc: 'ListTasks',
    toJSON: (request: ListTasksRequest) => ListTasksRequest.toJSON(request),
    run: (guard, request: ListTasksRequest, context) => guard.listTasks(request, context),
  }),
  cancelTask: method({
    rpc: 'CancelTask',
    toJSON: (request: CancelTaskRequest) => CancelTaskRequest.toJSON(request),
    run: (guard, request: CancelTaskRequest, context) => guard.cancelTask(request, context),
  }),
  createTaskPushNotificationConfig: method({
    rpc: 'CreateTaskPushNotificationConfig',
    toJSON: (request: TaskPushNotificationConfig) => TaskPushNotificationConfig.toJSON(request),
    run: (guard, request: TaskPushNotificationConfig, context) =>
      guard.createTaskPushNotificationConfig(request, context),
  }),
  getTaskPushNotificationConfig: method({
    rpc: 'GetTaskPushNotificationConfig',
    toJSON: (request: GetTaskPushNotificationConfigRequest) =>
      GetTaskPushNotificationConfigRequest.toJSON(request),
    run: (guard, request: GetTaskPushNotificationConfigRequest, context) =>
      guard.getTaskPushNotificationConfig(request, context),
  }),
  listTaskPushNotificationConfigs: method({
    rpc: 'ListTaskPushNotificationConfigs',
    toJSON: (request: ListTaskPushNotificationConfigsRequest) =>
      ListTaskPushNotificationConfigsRequest.toJSON(request),
    run: (guard, request: ListTaskPushNotificationConfigsRequest, context) =>
      guard.listTaskPushNotificationConfigs(request, context),
  }),
  deleteTaskPushNotificationConfig: method({
    rpc: 'DeleteTaskPushNotificationConfig',
    toJSON: (request: DeleteTaskPushNotificationConfigRequest) =>
      DeleteTaskPushNotificationConfigRequest.toJSON(request),
    run: async (guard, request: DeleteTaskPushNotificationConfigRequest, context) => {
      await guard.deleteTaskPushNotificationConfig(request, context);
      return {};
    },
  }),
  getExtendedAgentCard: method({
    rpc: 'GetExtendedAgentCard',
    toJSON: (request: GetExtendedAgentCardRequest) => GetExtendedAgentCardRequest.toJSON(request),
    run: (guard, request: GetExtendedAgentCardRequest, context) =>
      guard.getAuthenticatedExtendedAgentCard(request, context),
  }),
};

const streaming = {
  sendStreamingMessage: method({
    rpc: 'SendStreamingMessage',
    toJSON: (request: SendMessageRequest) => SendMessageRequest.toJSON(request),
    run: (guard, request: SendMessageRequest, context): Events =>
      guard.sendMessageStream(request, context),
  }),
  subscribeToTask: method({
    rpc: 'SubscribeToTask',
    toJSON: (request: SubscribeToTaskRequest) => SubscribeToTaskRequest.toJSON(request),
    run: (guard, request: SubscribeToTaskRequest, context): Events =>
      guard.resubscribe(request, context),
  }),
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
        const context = await grpcContext(call.metadata, ports, card);
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
        const context = await grpcContext(call.metadata, ports, card);
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

/** Written only as fast as they are read; a reader that goes away leaves the task to run on. */
async function write<Q>(
  packages: GrpcPackages,
  call: ServerWritableStream<Q, StreamResponse>,
  events: Events,
  context: ServerCallContext,
): Promise<void> {
  const gone = new AbortController();
  call.once('cancelled', () => {
    gone.abort();
    void events.return();
  });
  let begun = false;
  try {
    for await (const event of events) {
      if (!begun) call.sendMetadata(extensionMetadata(packages, context));
      begun = true;
      if (call.cancelled) return;
      const update = wantsMarks(context) ? withMark(event) : { payload: event.payload };
      if (!call.write(update)) await once(call, 'drain', { signal: gone.signal });
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}
