import type { ReactElement, ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { ThroughlineError } from 'throughline/model';
import { Icon, type IconName } from './icon.tsx';

interface NoticeProps {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ReactNode;
  readonly action?: { readonly label: string; readonly run: () => void };
}

/** What stands in place of a list that has nothing to show. */
export function Notice({ title, icon, children, action }: NoticeProps): ReactElement {
  return (
    <div className="notice">
      {icon === undefined ? null : <Icon name={icon} />}
      <h2>{title}</h2>
      {children}
      {action === undefined ? null : (
        <Button className="button" onPress={action.run}>
          {action.label}
        </Button>
      )}
    </div>
  );
}

/** A failure in words: what is wrong, and what to do. */
export function Failure({
  error,
  retry,
}: {
  readonly error: unknown;
  readonly retry: () => void;
}): ReactElement {
  const isMissing = error instanceof ThroughlineError && error.code === 'not-found';
  const title = isMissing ? 'There is no such case here' : 'The hub did not answer as it should';
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div role="alert">
      <Notice title={title} icon="warning" action={{ label: 'Try again', run: retry }}>
        <p>{isMissing ? 'It may have another id, or not be yours to see.' : message}</p>
      </Notice>
    </div>
  );
}

/** Grey rows while the first answer is on its way. */
export function Loading({ what }: { readonly what: string }): ReactElement {
  return (
    <div className="loading" role="status">
      <p>Reading {what} …</p>
      <div aria-hidden="true">
        {[72, 54, 63, 40, 58, 47].map((width) => (
          <span key={width} className="ghost" style={{ width: `${width}%` }} />
        ))}
      </div>
    </div>
  );
}
