import { useState, type ReactElement } from 'react';
import { Button } from 'react-aria-components';
import { useSource } from '../data/context.ts';

/** Who looks at the page, and the way out. */
export function Who(): ReactElement {
  const { session, onSignedOut } = useSource();
  const [hasFailed, setFailed] = useState(false);
  const { id, role, tenant } = session.principal;
  const leave = async (): Promise<void> => {
    try {
      await session.end();
    } catch {
      setFailed(true);
      return;
    }
    onSignedOut('You are signed out.');
  };
  return (
    <div className="who">
      <span className="who-name" title={`${role} of ${tenant}`}>
        {id}
        <span className="dim"> · {role}</span>
      </span>
      <Button className="link" onPress={() => void leave()}>
        {hasFailed ? 'Not reached: sign out again' : 'Sign out'}
      </Button>
    </div>
  );
}
