import { useEffect, useState, type ReactElement } from 'react';
import { Button } from 'react-aria-components';
import { Icon } from './icon.tsx';

const saidMs = 1_500;

/** An id in full, with a button that copies it. */
export function CopiedId({
  id,
  name,
}: {
  readonly id: string;
  readonly name: string;
}): ReactElement {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), saidMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    navigator.clipboard.writeText(id).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <span className="copied">
      <code className="id">{id}</code>
      <Button className="bare" aria-label={`Copy ${name}`} onPress={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} />
      </Button>
      <span className="unseen" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </span>
  );
}
