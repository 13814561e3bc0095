import type * as clientPackage from '@a2a-js/sdk/client/grpc';
import type * as legacyPackage from '@a2a-js/sdk/compat/v0_3/server/grpc';
import type * as errorsPackage from '@a2a-js/sdk/errors/grpc';
import type * as servicePackage from '@a2a-js/sdk/server/grpc';
import type * as wirePackage from '@bufbuild/protobuf/wire';
import type * as grpcPackage from '@grpc/grpc-js';
import { ThroughlineError } from '../../errors.ts';

/** The packages behind gRPC, which only those install who use it. */
export interface GrpcPackages {
  readonly grpc: typeof grpcPackage;
  readonly service: typeof servicePackage;
  readonly legacy: typeof legacyPackage;
  readonly errors: typeof errorsPackage;
  readonly client: typeof clientPackage;
  readonly wire: typeof wirePackage;
}

async function load(): Promise<GrpcPackages> {
  const [grpc, service, legacy, errors, client, wire] = await Promise.all([
    import('@grpc/grpc-js'),
    import('@a2a-js/sdk/server/grpc'),
    import('@a2a-js/sdk/compat/v0_3/server/grpc'),
    import('@a2a-js/sdk/errors/grpc'),
    import('@a2a-js/sdk/client/grpc'),
    import('@bufbuild/protobuf/wire'),
  ]);
  return { grpc, service, legacy, errors, client, wire };
}

/** Throws `unsupported` where they are not installed. */
export async function grpcPackages(): Promise<GrpcPackages> {
  try {
    return await load();
  } catch (cause) {
    const isMissing =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw cause;
    throw new ThroughlineError(
      'unsupported',
      'gRPC needs the packages @grpc/grpc-js and @bufbuild/protobuf; install them beside this one',
      { cause },
    );
  }
}
