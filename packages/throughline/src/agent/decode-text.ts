/** The charset that a media type names; UTF-8 where it names none. */
export const charsetOf = (mediaType: string): string =>
  /;\s*charset="?([\w.:-]+)"?/i.exec(mediaType)?.[1] ?? 'utf-8';

/**
 * A text by the charset that its media type names. Undefined for one that is not known, and with `fatal` for
 * bytes that are not of it, which are replaced by U+FFFD otherwise.
 */
export function decodeText(
  bytes: Uint8Array,
  mediaType: string,
  options: { readonly fatal?: boolean; readonly ignoreBOM?: boolean } = {},
): string | undefined {
  try {
    return new TextDecoder(charsetOf(mediaType), options).decode(bytes);
  } catch {
    return undefined;
  }
}
