import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { polling } from './live/live.ts';
import { openSession } from './session/session.ts';

/** Puts the page into the document it was loaded with. */
export function start(page: Document): void {
  const place = page.getElementById('page');
  if (place === null) throw new Error('the document has no place for the page');
  const { origin } = page.location;
  createRoot(place).render(
    <App
      live={polling({ page })}
      open={(key) => openSession({ origin, ...(key === undefined ? {} : { key }) })}
    />,
  );
}
