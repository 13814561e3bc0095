import { A2A_VERSION_HEADER, Extensions, HTTP_EXTENSION_HEADER, type AgentCard } from '@a2a-js/sdk';
import { validateVersion, type ServerCallContext } from '@a2a-js/sdk/server';
import type { Metadata } from '@grpc/grpc-js';
import { correlationExtension } from '../../model/envelope.ts';
import { callContext } from './call.ts';
import { legacyVersion } from './card.ts';
import { grpcCodeFor, toA2aError } from './errors.ts';
import type { GrpcPackages } from './grpc-packages.ts';
import { parseIJson } from './i-json.ts';
import { parseCursor } from './marks.ts';
import { checkParams } from './params.ts';
import type { A2aPorts } from './ports.ts';
import { traceFrom } from './trace.ts';

/** All values of a key, as HTTP joins them. */
function valueOf(metadata: Metadata, key: string): string | undefined {
  const values = metadata.get(key).map(String);
  return values.length === 0 ? undefined : values.join(',');
}

/** Who calls, in which version, with which extensions. Throws before anything of the request is read. */
export async function grpcContext(
  metadata: Metadata,
  ports: Pick<A2aPorts, 'authenticate'>,
  card: AgentCard,
): Promise<ServerCallContext> {
  const credential = valueOf(metadata, 'authorization');
  const principal = await ports.authenticate(credential);
  const version = valueOf(metadata, A2A_VERSION_HEADER)?.trim() || legacyVersion;
  validateVersion(version, card, 'GRPC');
  const extensions = Extensions.parseServiceParameter(valueOf(metadata, HTTP_EXTENSION_HEADER));
  const caller = { principal, ...(credential === undefined ? {} : { credential }) };
  const context = callContext(caller, {
    version,
    extensions,
    trace: traceFrom({ get: (name) => valueOf(metadata, name) ?? null }),
    cursor: parseCursor(valueOf(metadata, 'last-event-id')),
  });
  if (extensions.includes(correlationExtension)) {
    context.addActivatedExtension(correlationExtension);
  }
  return context;
}

/** The same bounds as over HTTP: nothing is let in here that would be refused there. */
export function checkRequest(method: string, json: unknown): void {
  checkParams(method, parseIJson(JSON.stringify(json)));
}

export function extensionMetadata({ grpc }: GrpcPackages, context: ServerCallContext): Metadata {
  const metadata = new grpc.Metadata();
  const active = context.activatedExtensions ?? [];
  if (active.length > 0) {
    metadata.set(HTTP_EXTENSION_HEADER, Extensions.toServiceParameter(active));
  }
  return metadata;
}

/** Anything thrown, as a gRPC status with its details (A2A 10.6). */
export function serviceError(
  { grpc, errors }: GrpcPackages,
  thrown: unknown,
): { code: number; details: string; metadata: Metadata } & Error {
  const error = toA2aError(thrown);
  const own = errors.grpcStatusFor(error);
  const unknown = own === errors.GRPC_STATUS_CODE.UNKNOWN;
  const code = grpcCodeFor(error) ?? (unknown ? errors.GRPC_STATUS_CODE.INTERNAL : own);
  const metadata = errors.buildGrpcErrorMetadata(grpc.Metadata, error) ?? new grpc.Metadata();
  return Object.assign(new Error(error.message), { code, details: error.message, metadata });
}
