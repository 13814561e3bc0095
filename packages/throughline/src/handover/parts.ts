/**
 * One part of a message or of an output, in our own words: exactly one of text, data and bytes. A
 * binding turns it into its wire's form.
 */
export type Part = PartContent & {
  readonly mediaType?: string;
  /** File name or other name of the content. */
  readonly name?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
};

type PartContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'url'; readonly url: string };
