import { A2A_VERSION_HEADER, type AgentCard } from '@a2a-js/sdk';
import type { A2AError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { Metadata, ServiceDefinition } from '@grpc/grpc-js';
import { ThroughlineError } from '../../errors.ts';
import { limits } from '../../model/limits.ts';
import { activeExtensions, authenticated, contextFrom } from './call.ts';
import { grpcCodeFor, toA2aError } from './errors.ts';
import type { GrpcPackages } from './grpc-packages.ts';
import { decodeUtf8, parseIJson } from './i-json.ts';
import { readParams } from './params.ts';
import type { A2aPorts } from './ports.ts';
import { requireVersion, versionOf } from './version.ts';

/** All values of a key, as HTTP joins them. */
function valueOf(metadata: Metadata, key: string): string | undefined {
  const values = metadata.get(key).map(String);
  return values.length === 0 ? undefined : values.join(',');
}

/**
 * Who calls, with which extensions. Throws before anything of the request is read; VersionNotSupported
 * when the call is not of the version that is served.
 */
export async function grpcContext(
  metadata: Metadata,
  ports: Pick<A2aPorts, 'authenticate'>,
  card: AgentCard,
  served: string,
): Promise<ServerCallContext> {
  const caller = await authenticated(ports, valueOf(metadata, 'authorization'));
  const version = versionOf(valueOf(metadata, A2A_VERSION_HEADER));
  requireVersion(version, served, card, 'GRPC');
  return contextFrom(caller, version, (name) => valueOf(metadata, name));
}

/**
 * A service that reads no text but UTF-8. Read as it comes, what is none becomes U+FFFD, and two ids
 * become one. The SDK's decoders take a reader in place of bytes.
 */
export const strictUtf8 = ({ wire }: GrpcPackages, service: ServiceDefinition): ServiceDefinition =>
  Object.fromEntries(
    Object.entries(service).map(([name, method]) => {
      const requestDeserialize = (bytes: Buffer): unknown =>
        Reflect.apply(method.requestDeserialize, undefined, [
          new wire.BinaryReader(bytes, decodeUtf8),
        ]);
      return [name, { ...method, requestDeserialize }];
    }),
  );

/** What JSON would write as null, in silence. */
function finite(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new ThroughlineError('invalid', `the request has the number ${value}; send I-JSON`);
}

/** What nests so deep that it can't even be written is past any bound. */
function written(json: unknown): string {
  try {
    return JSON.stringify(json, finite);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const what = `the request has more than ${limits.jsonDepth} levels; send I-JSON`;
    throw new ThroughlineError('invalid', what, { cause });
  }
}

/** The same bounds as over HTTP: nothing is let in here that would be refused there. */
export function checkRequest(method: string, json: unknown): void {
  readParams(method, parseIJson(written(json)));
}

export const extensionMetadata = ({ grpc }: GrpcPackages, context: ServerCallContext): Metadata =>
  grpc.Metadata.fromHttp2Headers(activeExtensions(context));

/** Anything thrown, as an error that carries its gRPC status. */
export function grpcFailure(
  { errors }: GrpcPackages,
  thrown: unknown,
): A2AError & { transport: 'grpc'; status: number } {
  const error = toA2aError(thrown);
  const own = errors.grpcStatusFor(error);
  const unknown = own === errors.GRPC_STATUS_CODE.UNKNOWN;
  const status = grpcCodeFor(error) ?? (unknown ? errors.GRPC_STATUS_CODE.INTERNAL : own);
  return Object.assign(error, { transport: 'grpc' as const, status });
}

/** Anything thrown, as a gRPC status with its details (A2A 10.6). */
export function serviceError(
  packages: GrpcPackages,
  thrown: unknown,
): { code: number; details: string; metadata: Metadata } & Error {
  const { grpc, errors } = packages;
  const { status: code, message, reason, metadata: more } = grpcFailure(packages, thrown);
  const metadata = new grpc.Metadata();
  const details = errors.encodeGrpcStatusDetails(code, message, reason, more);
  metadata.set(errors.GRPC_STATUS_DETAILS_BIN, details);
  return Object.assign(new Error(message), { code, details: message, metadata });
}
