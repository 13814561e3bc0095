import { useSyncExternalStore } from 'react';

const query = '(max-width: 760px)';

const subscribe = (changed: () => void): (() => void) => {
  const media = window.matchMedia(query);
  media.addEventListener('change', changed);
  return () => media.removeEventListener('change', changed);
};

/** Whether the page is as narrow as a telephone's: rows take two lines, details the whole width. */
export const useNarrow = (): boolean =>
  useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
