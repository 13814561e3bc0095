import { z } from 'zod';
import { limits } from './limits.ts';

/** Prefix of each public id; the rest is 128 random bits, so nothing can be read from an id. */
export const idPrefixes = {
  participant: 'prt',
  activity: 'act',
  dialog: 'dlg',
  task: 'tsk',
  resource: 'res',
  relationship: 'rel',
  assertion: 'asr',
  context: 'ctx',
  grant: 'grt',
  message: 'msg',
  key: 'key',
} as const;

export type IdKind = keyof typeof idPrefixes;

const kindOfPrefix = new Map<string, string>(
  Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind]),
);

const isIdKind = (kind: string | undefined): kind is IdKind =>
  kind !== undefined && Object.hasOwn(idPrefixes, kind);

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const idBytes = 16;

/**
 * A public id from 16 random bytes: prefix, underscore, 26 characters of Crockford base 32.
 * Randomness comes in as a value, so that the model stays pure.
 */
export function makeId(kind: IdKind, random: Uint8Array): string {
  if (random.length < idBytes) throw new RangeError(`an id needs ${idBytes} random bytes`);
  let value = 0n;
  for (const byte of random.subarray(0, idBytes)) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = alphabet.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return `${idPrefixes[kind]}_${text}`;
}

/** Schema of a public id of one kind. */
export function idSchema(kind: IdKind): z.ZodString {
  return z.string().regex(new RegExp(`^${idPrefixes[kind]}_[0-9a-hjkmnp-tv-z]{26}$`));
}

/** The kind of a public id, or undefined when the text is not one of ours. */
export function idKind(id: string): IdKind | undefined {
  const kind = kindOfPrefix.get(id.slice(0, 3));
  return isIdKind(kind) && idSchema(kind).safeParse(id).success ? kind : undefined;
}

/** Bytes of a well-formed string in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const point = char.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** Text that can be stored on every engine without changing: well-formed Unicode, no NUL. */
export const text = (maxBytes: number) =>
  z.string().refine((s) => s.isWellFormed() && !s.includes('\0') && utf8Length(s) <= maxBytes, {
    message: `must be well-formed Unicode without NUL, at most ${maxBytes} bytes of UTF-8`,
  });

export const shortText = text(limits.textBytes);

const segment = /^[^\p{Cc}/\\]+$/u;
const encodedSeparator = /%(?:2f|5c|00)/i;

/**
 * An id that somebody else made, kept as given: one path segment of well-formed Unicode without
 * control characters, at most 512 bytes. Anything else is refused, never repaired.
 */
export const foreignId = z
  .string()
  .min(1)
  .refine(
    (id) =>
      id.isWellFormed() &&
      utf8Length(id) <= limits.foreignIdBytes &&
      segment.test(id) &&
      !encodedSeparator.test(id) &&
      id !== '.' &&
      id !== '..',
    {
      message: `must be one path segment of well-formed Unicode without control characters, at most ${limits.foreignIdBytes} bytes`,
    },
  );

/** RFC 3339 with a zone, as in A2A timestamps. */
export const timestamp = z.iso.datetime({ offset: true });

/** `sha-256:` and 64 hexadecimal digits. */
export const digest = z.string().regex(/^sha-256:[0-9a-f]{64}$/);
