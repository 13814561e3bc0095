import { parseIJsonBytes } from '../bindings/a2a/i-json.ts';
import { ThroughlineError } from '../errors.ts';
import { limits } from '../model/limits.ts';

/** A protocol’s own JSON, at its deepest, stands in a few levels of ours. */
export const bodyDepth = limits.jsonDepth + 8;

/**
 * Parses the JSON of a body, strictly: UTF-8, no duplicate keys, no lone surrogates, no integers that
 * lose digits, bounded depth. Throws `invalid`, naming which of these it broke.
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return parseIJsonBytes(bytes, bodyDepth);
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw new ThroughlineError('invalid', 'body: is not well-formed JSON in UTF-8');
  }
}
