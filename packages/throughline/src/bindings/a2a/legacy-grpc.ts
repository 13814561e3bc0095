import { ServerCallContext, type A2ARequestHandler, type User } from '@a2a-js/sdk/server';
import type { ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { ThroughlineError } from '../../errors.ts';
import { checkRequest, grpcContext, grpcFailure } from './grpc-call.ts';
import type { GrpcPackages } from './grpc-packages.ts';
import { paced } from './grpc-service.ts';
import type { GrpcTarget } from './grpc-target.ts';
import {
  streamingMethods as streaming,
  unaryMethods as unary,
  type Events,
  type Method,
} from './methods.ts';
import { legacyVersion } from './version.ts';

/** A call whose caller is known; the SDK passes it on where it would make a context of its own. */
class KnownUser implements User {
  readonly isAuthenticated = true;
  readonly userName: string;
  readonly context: ServerCallContext;

  constructor(context: ServerCallContext) {
    this.context = context;
    this.userName = context.user?.userName ?? '';
  }
}

type Streams = WeakMap<ServerCallContext, ServerWritableStream<unknown, unknown>>;

/** The methods of the 1.0 service, asked by the SDK's translation of 0.3. */
function handlerOf(
  packages: GrpcPackages,
  target: Promise<GrpcTarget>,
  streams: Streams,
): A2ARequestHandler {
  const one =
    <Q, A>({ rpc, toJSON, run }: Method<Q, Promise<A>>) =>
    async (request: Q, context: ServerCallContext): Promise<A> => {
      try {
        checkRequest(rpc, toJSON(request));
        return await run((await target).guard, request, context);
      } catch (error) {
        throw grpcFailure(packages, error);
      }
    };
  const many = <Q>({ rpc, toJSON, run }: Method<Q, Events>) =>
    async function* told(request: Q, context: ServerCallContext): Events {
      try {
        checkRequest(rpc, toJSON(request));
        const call = streams.get(context);
        const events = run((await target).guard, request, context);
        yield* call === undefined ? events : paced(call, events);
      } catch (error) {
        throw grpcFailure(packages, error);
      }
    };
  const send = one(unary.sendMessage);
  const get = one(unary.getTask);
  const remove = one(unary.deleteTaskPushNotificationConfig);
  return {
    getAgentCard: async () => (await target).card,
    sendMessage: async (request, context) => {
      const { payload } = await send(request, context);
      if (payload !== undefined) return payload.value;
      throw new ThroughlineError('internal', 'a send that led to nothing');
    },
    // There a length that was not sent can't be told from 0.
    getTask: ({ historyLength, ...request }, context) =>
      get(historyLength ? { ...request, historyLength } : request, context),
    deleteTaskPushNotificationConfig: async (request, context) => {
      await remove(request, context);
    },
    cancelTask: one(unary.cancelTask),
    listTasks: one(unary.listTasks),
    createTaskPushNotificationConfig: one(unary.createTaskPushNotificationConfig),
    getTaskPushNotificationConfig: one(unary.getTaskPushNotificationConfig),
    listTaskPushNotificationConfigs: one(unary.listTaskPushNotificationConfigs),
    getAuthenticatedExtendedAgentCard: one(unary.getExtendedAgentCard),
    sendMessageStream: many(streaming.sendStreamingMessage),
    resubscribe: many(streaming.subscribeToTask),
  };
}

/** The handlers of the service of A2A 0.3: the SDK translates, all else is as in `grpcService`. */
export function legacyGrpcService(
  packages: GrpcPackages,
  target: Promise<GrpcTarget>,
): UntypedServiceImplementation {
  const streams: Streams = new WeakMap();
  return {
    ...packages.legacy.legacyGrpcService({
      requestHandler: handlerOf(packages, target, streams),
      userBuilder: async (call) => {
        try {
          const { ports, card } = await target;
          const context = await grpcContext(call.metadata, ports, card, legacyVersion);
          if ('write' in call) streams.set(context, call);
          return new KnownUser(context);
        } catch (error) {
          throw grpcFailure(packages, error);
        }
      },
      contextBuilder: ({ user }) =>
        user instanceof KnownUser ? user.context : new ServerCallContext(),
    }),
  };
}
