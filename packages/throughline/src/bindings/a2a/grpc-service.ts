import { once, type EventEmitter } from 'node:events';
import { A2A_PROTOCOL_VERSION, type StreamResponse } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  ServerWritableStream,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { ThroughlineError } from '../../errors.ts';
import { checkRequest, extensionMetadata, grpcContext, serviceError } from './grpc-call.ts';
import type { GrpcPackages } from './grpc-packages.ts';
import type { GrpcTarget } from './grpc-target.ts';
import {
  streamingMethods as streaming,
  unaryMethods as unary,
  type Events,
  type Method,
} from './methods.ts';

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

/** How long a reader may take nothing of what waits for it, in milliseconds. */
const longestStallMs = 60_000;

/** What is asked of a stream of a call; a gRPC call is one. */
type Call = EventEmitter &
  Pick<ServerWritableStream<unknown, unknown>, 'cancelled' | 'writableNeedDrain'>;

/**
 * Events for one who writes each as it comes: no faster than they are read; a reader that goes away
 * leaves the task to run on.
 *
 * @throws ThroughlineError `timeout` for a reader that takes nothing: it may subscribe again.
 */
export async function* paced(call: Call, events: Events, stallMs = longestStallMs): Events {
  const gone = new AbortController();
  call.once('cancelled', () => {
    gone.abort();
    void events.return();
  });
  try {
    for await (const event of events) {
      if (call.cancelled) return;
      yield event;
      if (call.writableNeedDrain) await drained(call, gone.signal, stallMs);
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

async function drained(call: Call, gone: AbortSignal, stallMs: number): Promise<void> {
  const late = AbortSignal.timeout(stallMs);
  try {
    await once(call, 'drain', { signal: AbortSignal.any([gone, late]) });
  } catch (cause) {
    if (!late.aborted) throw cause;
    const message = `Nothing of this stream was read for ${stallMs / 1_000} s; subscribe to its task again.`;
    throw new ThroughlineError('timeout', message, { cause });
  }
}
