/** What of the page's `window` a code is taken from. */
interface Window {
  readonly location: Pick<Location, 'hash' | 'pathname'>;
  readonly history: Pick<History, 'replaceState'>;
}

const pattern = /^#code=([^/]*)(\/.*)?$/s;

/** Whether the address has a code that is still to be taken. */
export const hasCode = ({ location }: Pick<Window, 'location'>): boolean =>
  pattern.test(location.hash);

/**
 * Takes a one-time code out of the address, `#code=…` or `#code=…/case/…`, and leaves there only the
 * place that it leads to: no code stays in the history or in what is copied.
 */
export function takeCode({ location, history }: Window): string | undefined {
  const found = pattern.exec(location.hash);
  if (found === null) return undefined;
  history.replaceState(null, '', `${location.pathname}#${found[2] ?? '/'}`);
  return found[1];
}
