import type { ReactElement } from 'react';
import type { CaseSummary } from 'throughline/model';
import { plain } from '../case/case-index.ts';

/** Labels that people gave a case, such as a ticket's number. */
export function Labels({ of: { labels = {} } }: { readonly of: CaseSummary }): ReactElement {
  return (
    <>
      {Object.entries(labels).map(([name, value]) => (
        <span key={name} className="label-mark">
          <span className="dim">{name}</span> <span className="said">{plain(value)}</span>
        </span>
      ))}
    </>
  );
}
