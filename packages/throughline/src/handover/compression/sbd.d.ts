declare module 'sbd' {
  export function sentences(
    text: string,
    options?: { readonly preserve_whitespace?: boolean },
  ): string[];
}
