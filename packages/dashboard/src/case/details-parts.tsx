import type { ReactElement, ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { Icon } from '../ui/icon.tsx';
import type { CaseIndex } from './case-index.ts';

export interface DetailsProps {
  readonly index: CaseIndex;
  readonly caseId: string;
  readonly id: string;
  readonly select: (id: string | undefined) => void;
  readonly showInTimeline: (id: string) => void;
}

/** A part of the details, with a heading. */
export function Part({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

interface LinkProps {
  readonly index: CaseIndex;
  readonly id: string;
  readonly select: (id: string) => void;
}

/** Another object of the case, by its name; one that is not shown here is only named. */
export function ObjectLink({ index, id, select }: LinkProps): ReactElement {
  const object = index.objects.get(id);
  if (object === undefined) return <code className="id">{id}</code>;
  return (
    <Button className="object-link" onPress={() => select(id)}>
      <Icon name={object.kind} />
      <span className="said">{index.label(id)}</span>
    </Button>
  );
}
