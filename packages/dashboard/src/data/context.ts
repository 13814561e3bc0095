import { createContext, use } from 'react';
import type { Live } from '../live/live.ts';
import type { Session } from '../session/session.ts';

/** What every part of the page reads from. */
export interface Source {
  readonly session: Session;
  readonly live: Live;
  /** The hub no longer knows us, or we left; says which. */
  readonly onSignedOut: (note?: string) => void;
}

export const SourceContext = createContext<Source | undefined>(undefined);

export function useSource(): Source {
  const source = use(SourceContext);
  if (source === undefined) throw new Error('no session around this part of the page');
  return source;
}
