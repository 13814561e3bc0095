import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { CasePage } from './case/page.tsx';
import { CasesPage } from './cases/page.tsx';
import { useRoute } from './frame/use-route.ts';
import type { Live } from './live/live.ts';
import { Gate } from './session/gate.tsx';
import { Who } from './session/who.tsx';
import type { Session } from './session/session.ts';

export interface AppProps {
  /** How the page hears of what changes at the hub. */
  readonly live: (hub: Session['hub']) => Live;
  readonly open: (key?: string) => Promise<Session>;
  /** Told to whom the hub does not know at first. */
  readonly note?: string;
}

const newQueries = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      // The hub's client tries again itself, and `live` says when to read anew.
      queries: { retry: false, staleTime: Infinity, networkMode: 'always' },
    },
  });

export function App({ live, open, note }: AppProps): ReactElement {
  const [queries] = useState(newQueries);
  return (
    <QueryClientProvider client={queries}>
      <Gate live={live} open={open} {...(note === undefined ? {} : { note })}>
        <Frame />
      </Gate>
    </QueryClientProvider>
  );
}

function Frame(): ReactElement {
  const [route, go] = useRoute();
  return (
    <div className="frame">
      <header className="bar">
        <a className="brand" href="#/" aria-current={route.page === 'cases' ? 'page' : undefined}>
          Throughline
        </a>
        <Who />
      </header>
      {route.page === 'cases' ? <CasesPage /> : <CasePage key={route.id} route={route} go={go} />}
    </div>
  );
}
