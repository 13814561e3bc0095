import { ThroughlineError } from '../../errors.ts';
import { limits } from '../../model/limits.ts';
import { strictUtf8 } from './grpc-call.ts';
import { grpcPackages } from './grpc-packages.ts';
import { grpcService } from './grpc-service.ts';
import type { GrpcTarget } from './grpc-target.ts';
import { legacyGrpcService } from './legacy-grpc.ts';

export interface GrpcOptions {
  /** Default: loopback alone. */
  readonly host?: string | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** Address that others see, as `host:port`, where it is not the one listened on. */
  readonly publicAddress?: string;
  /** PEM certificate chain and key; without them plain text, for loopback or behind a proxy. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Bytes of one request; more is refused unread. */
  readonly bodyLimit?: number | undefined;
}

export interface ServedGrpc {
  /** `host:port`, as the card names it. */
  readonly address: string;
  /** From now on calls are answered; those that came before wait for it. */
  serve(target: GrpcTarget): void;
  /** Takes no new calls, lets running ones end for at most so many milliseconds, then hangs up. */
  close(timeoutMs: number): Promise<void>;
}

const callsPerConnection = 256;
const pingMs = 15_000;

/**
 * Listens for gRPC on an address of its own. What it serves comes later, since the card that it is
 * held to names this address. Throws `unsupported` without the packages, `unavailable` for a port
 * that can't be had.
 */
export async function openGrpc(options: GrpcOptions = {}): Promise<ServedGrpc> {
  const { host = '127.0.0.1', port = 0, tls, bodyLimit = limits.bodyBytes } = options;
  const packages = await grpcPackages();
  const { grpc, service, legacy } = packages;
  const server = new grpc.Server({
    'grpc.max_receive_message_length': bodyLimit,
    'grpc.max_concurrent_streams': callsPerConnection,
    'grpc.keepalive_time_ms': pingMs,
  });
  const target = Promise.withResolvers<GrpcTarget>();
  const services = [
    [service.A2AService, grpcService],
    [legacy.LegacyA2AService, legacyGrpcService],
  ] as const;
  for (const [definition, handlers] of services) {
    server.addService(strictUtf8(packages, definition), handlers(packages, target.promise));
  }
  const credentials =
    tls === undefined
      ? grpc.ServerCredentials.createInsecure()
      : grpc.ServerCredentials.createSsl(null, [
          { cert_chain: Buffer.from(tls.certificate), private_key: Buffer.from(tls.key) },
        ]);
  const hostPart = host.includes(':') ? `[${host}]` : host;
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${hostPart}:${port}`, credentials, (cause, actual) => {
      if (cause === null) resolve(actual);
      else {
        const message = `gRPC can't be served on ${hostPart}:${port}; is the port taken?`;
        reject(new ThroughlineError('unavailable', message, { cause, retryable: false }));
      }
    });
  });
  return {
    address: options.publicAddress ?? `${hostPart}:${bound}`,
    serve: (served) => target.resolve(served),
    async close(timeoutMs) {
      const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      const hangUp = setTimeout(() => server.forceShutdown(), timeoutMs);
      await closed;
      clearTimeout(hangUp);
    },
  };
}
