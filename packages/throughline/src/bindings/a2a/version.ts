import type { AgentCard } from '@a2a-js/sdk';
import { A2A_LEGACY_PROTOCOL_VERSION } from '@a2a-js/sdk/compat/v0_3';
import { VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { validateVersion } from '@a2a-js/sdk/server';

/** The version before 1.0, which an absent A2A-Version stands for (A2A 3.6). */
export const legacyVersion = A2A_LEGACY_PROTOCOL_VERSION;

/** The version that a call's `A2A-Version` names. */
export const versionOf = (header: string | undefined): string => header?.trim() || legacyVersion;

/** Throws VersionNotSupported for a version that the card does not name, or that is not served here. */
export function requireVersion(
  version: string,
  served: string,
  card: AgentCard,
  binding: 'HTTP+JSON' | 'GRPC',
): void {
  validateVersion(version, card, binding);
  if (version === served) return;
  throw new VersionNotSupportedError(
    `the call is of A2A ${version}, and what it calls is of ${served}; name it in A2A-Version`,
  );
}
