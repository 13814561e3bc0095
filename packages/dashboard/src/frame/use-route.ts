import { useCallback, useSyncExternalStore } from 'react';
import { formatRoute, parseRoute, type Route } from './route.ts';

const subscribe = (changed: () => void): (() => void) => {
  window.addEventListener('hashchange', changed);
  return () => window.removeEventListener('hashchange', changed);
};

/** Where the page is, and the way to go elsewhere; `replace` leaves no step in the history. */
export function useRoute(): readonly [Route, (to: Route, how?: 'push' | 'replace') => void] {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  const go = useCallback((to: Route, how: 'push' | 'replace' = 'push') => {
    const next = formatRoute(to);
    if (how === 'push') {
      window.location.hash = next;
    } else {
      window.history.replaceState(null, '', next);
      window.dispatchEvent(new HashChangeEvent('hashchange'));
    }
  }, []);
  return [parseRoute(hash), go];
}
