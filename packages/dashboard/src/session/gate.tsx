import { useQueryClient } from '@tanstack/react-query';
import {
  useCallback,
  useEffect,
  useMemo,
  useState,
  type ReactElement,
  type ReactNode,
} from 'react';
import { ThroughlineError } from 'throughline/model';
import { SourceContext } from '../data/context.ts';
import type { Live } from '../live/live.ts';
import { Failure, Loading } from '../ui/notice.tsx';
import type { Session } from './session.ts';
import { SignIn } from './sign-in.tsx';

export interface GateProps {
  /** Without a key: by the browser's cookie. */
  readonly open: (key?: string) => Promise<Session>;
  readonly live: (hub: Session['hub']) => Live;
  /** Told to whom the hub does not know at first. */
  readonly note?: string;
  readonly children: ReactNode;
}

type State =
  | { readonly at: 'asking' }
  | { readonly at: 'outside'; readonly note?: string }
  | { readonly at: 'failed'; readonly error: unknown }
  | { readonly at: 'inside'; readonly session: Session };

/** Shows the page to whom the hub knows, and asks everybody else for a key. */
export function Gate({ open, live, note, children }: GateProps): ReactElement {
  const [state, setState] = useState<State>({ at: 'asking' });
  const queries = useQueryClient();
  const tryCookie = useCallback(() => {
    open().then(
      (session) => setState({ at: 'inside', session }),
      (error: unknown) => setState(isUnknown(error) ? outside(note) : { at: 'failed', error }),
    );
  }, [open, note]);
  useEffect(tryCookie, [tryCookie]);

  const retry = (): void => {
    setState({ at: 'asking' });
    tryCookie();
  };
  const onSignedOut = useCallback(
    (why = 'The hub no longer knows you. Enter a key.') => {
      queries.clear();
      setState(outside(why));
    },
    [queries],
  );
  const session = state.at === 'inside' ? state.session : undefined;
  const source = useMemo(
    () => (session === undefined ? undefined : { session, live: live(session.hub), onSignedOut }),
    [session, live, onSignedOut],
  );
  if (source !== undefined) return <SourceContext value={source}>{children}</SourceContext>;
  if (state.at === 'failed') return <Failure error={state.error} retry={retry} />;
  if (state.at !== 'outside') return <Loading what="who you are" />;
  const signIn = async (key: string): Promise<void> => {
    setState({ at: 'inside', session: await open(key) });
  };
  return <SignIn signIn={signIn} {...(state.note === undefined ? {} : { note: state.note })} />;
}

const outside = (note: string | undefined): State =>
  note === undefined ? { at: 'outside' } : { at: 'outside', note };

const isUnknown = (error: unknown): boolean =>
  error instanceof ThroughlineError && error.code === 'unauthenticated';
