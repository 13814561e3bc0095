import { ThroughlineError } from '../errors.ts';
import { utf8Length } from '../model/ids.ts';

export interface JsonBounds {
  /** UTF-8 bytes of all keys and strings, one more for each other value. */
  readonly bytes: number;
  /** Levels of nesting. */
  readonly depth: number;
}

/**
 * Refuses JSON that is too large or too deep, without recursion and before anything else looks at it.
 *
 * @throws ThroughlineError `too-large`, naming the bound.
 */
export function assertWithin(value: unknown, bounds: JsonBounds, what: string): void {
  const stack: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  let bytes = 0;
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (next.depth > bounds.depth) {
      throw new ThroughlineError(
        'too-large',
        `${what} is nested deeper than ${bounds.depth} levels; flatten it.`,
      );
    }
    bytes += typeof next.value === 'string' ? next.value.length : 1;
    if (bytes <= bounds.bytes && typeof next.value === 'string') {
      bytes += utf8Length(next.value) - next.value.length;
    }
    if (typeof next.value === 'object' && next.value !== null) {
      for (const [key, inner] of Object.entries(next.value)) {
        bytes += Array.isArray(next.value) ? 0 : key.length;
        stack.push({ value: inner, depth: next.depth + 1 });
      }
    }
    if (bytes > bounds.bytes) {
      throw new ThroughlineError(
        'too-large',
        `${what} is larger than ${bounds.bytes} bytes; offload content and return references to it.`,
      );
    }
  }
}
