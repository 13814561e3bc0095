import { createHash } from 'node:crypto';

/** `sha-256:` and the hexadecimal digest of these bytes, or of this text in UTF-8. */
export function sha256(content: Uint8Array | string): string {
  return `sha-256:${createHash('sha256').update(content).digest('hex')}`;
}

/**
 * JSON with sorted keys, so that equal values give equal text. For digests of our own only: nothing
 * that crosses a domain depends on it. The depth was bounded when the value was parsed.
 */
export function sortedJson(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(
            Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
          )
        : inner,
    ) ?? 'null'
  );
}
