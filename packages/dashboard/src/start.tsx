import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { liveFeed } from './live/live.ts';
import { hasCode, takeCode } from './session/code.ts';
import { openSession, type Session } from './session/session.ts';

const codeRefused =
  'The code in the address counts once, within a minute. Make another with: throughline page';

/** Puts the page into the document it was loaded with. */
export function start(page: Document): void {
  const place = page.getElementById('page');
  if (place === null) throw new Error('the document has no place for the page');
  const { origin } = page.location;
  const code = takeCode(window);
  // Put into a tab where the page is open, an address changes its hash alone: nothing is loaded anew.
  window.addEventListener('hashchange', () => hasCode(window) && window.location.reload());
  const follow = ({ feed }: Session['hub']) => liveFeed({ page, feed });
  createRoot(place).render(
    <App
      live={follow}
      {...(code === undefined ? {} : { note: codeRefused })}
      open={(key) =>
        openSession({
          origin,
          ...(key === undefined ? {} : { key }),
          ...(key === undefined && code !== undefined ? { code } : {}),
        })
      }
    />,
  );
}
