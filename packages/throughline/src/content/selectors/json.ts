import { ThroughlineError } from '../../errors.ts';
import { limits } from '../../model/limits.ts';

/** The value that a JSON Pointer names (RFC 6901); undefined where there is none. */
export function valueAt(bytes: Uint8Array, path: readonly string[]): Uint8Array | undefined {
  if (path.length > limits.jsonDepth) return undefined;
  let value: unknown = parse(bytes);
  for (const segment of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(segment)) return undefined;
    if (!Object.hasOwn(value, segment)) return undefined;
    value = Reflect.get(value, segment);
  }
  return new TextEncoder().encode(JSON.stringify(value));
}

function parse(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return value;
  } catch {
    throw new ThroughlineError('unsupported', 'selector: the content is no JSON');
  }
}
