import { useMemo, type ReactElement } from 'react';
import type { Assertion } from 'throughline/model';
import { mostAssertions } from '../data/queries.ts';
import { Icon } from '../ui/icon.tsx';
import { Failure, Loading, Notice } from '../ui/notice.tsx';
import { Rows } from '../ui/rows.tsx';
import { figure } from '../words/numbers.ts';
import { phraseOf, subjectOf } from '../words/statements.ts';
import { clock, moment } from '../words/time.ts';
import type { CaseIndex } from './case-index.ts';
import { holds, type TabProps } from './tab-props.ts';

const columns = ['No.', 'Time', 'About', 'Said', 'By', 'Basis'];

interface Entry {
  readonly assertion: Assertion;
  readonly subject: string;
  readonly phrase: string;
  readonly refused: string | undefined;
}
const keyOf = ({ assertion }: Entry): string => assertion.id;

/** What was said, in the order in which the hub wrote it down: by whom, and how they know. */
export function TimelineTab({ index, timeline, find, selected, select }: TabProps): ReactElement {
  const { data, error } = timeline;
  const entries = useMemo(() => entriesOf(index, data?.assertions ?? []), [index, data]);
  const shown = useMemo(
    () => (find.trim() === '' ? entries : entries.filter((each) => isFound(index, each, find))),
    [entries, find, index],
  );
  if (data === undefined) {
    return error === null ? (
      <Loading what="the timeline" />
    ) : (
      <Failure error={error} retry={() => void timeline.refetch()} />
    );
  }
  if (shown.length === 0) {
    return (
      <Notice title="Nothing in the timeline matches" icon="search">
        <p>No statement of this case holds these words.</p>
      </Notice>
    );
  }
  return (
    <>
      {data.isCut ? (
        <p className="foot">
          The first {figure(mostAssertions)} statements. Later ones: throughline case show
          --timeline
        </p>
      ) : null}
      <Rows
        label="The case as a timeline"
        look="timeline"
        columns={columns}
        rows={shown}
        keyOf={keyOf}
        isSelected={({ subject, assertion }) =>
          subject === selected || assertion.about === selected
        }
        onChoose={({ subject }) => select(subject)}
        attributes={({ assertion, refused }) => ({
          'data-id': assertion.id,
          'data-seq': String(assertion.seq),
          'data-refused': refused,
        })}
        renderCells={(entry) => <Cells index={index} entry={entry} />}
      />
    </>
  );
}

function entriesOf(index: CaseIndex, assertions: readonly Assertion[]): Entry[] {
  const refused = new Map(index.view.conflicts.map((each) => [each.assertion, each.rule]));
  return assertions.map((assertion) => ({
    assertion,
    subject: subjectOf(assertion, index),
    phrase: phraseOf(assertion, index),
    refused: refused.get(assertion.id),
  }));
}

const isFound = (index: CaseIndex, { assertion, subject, phrase }: Entry, find: string): boolean =>
  holds(
    find,
    index.label(subject),
    subject,
    assertion.about,
    phrase,
    index.label(assertion.source),
    assertion.basis,
    'to' in assertion.statement ? assertion.statement.to : undefined,
  );

function Cells({
  index,
  entry,
}: {
  readonly index: CaseIndex;
  readonly entry: Entry;
}): ReactElement {
  const { assertion, subject, phrase, refused } = entry;
  const kind = index.objects.get(subject)?.kind;
  return (
    <>
      <span role="gridcell" className="cell cell-seq dim">
        {assertion.seq}
      </span>
      <span role="gridcell" className="cell cell-when dim">
        <time dateTime={assertion.recordedAt} title={moment(assertion.recordedAt)}>
          {clock(assertion.recordedAt)}
        </time>
      </span>
      <span role="gridcell" className="cell cell-what">
        {kind === undefined ? null : <Icon name={kind} />}
        <span className="said label" title={index.label(subject)}>
          {index.label(subject)}
        </span>
      </span>
      <span role="gridcell" className="cell cell-said said" title={phrase}>
        {refused === undefined ? null : (
          <span className="mark" data-tone="bad">
            not applied: {refused.replaceAll('-', ' ')}
          </span>
        )}
        {phrase}
      </span>
      <span role="gridcell" className="cell cell-who said">
        {index.label(assertion.source)}
      </span>
      <span role="gridcell" className="cell cell-basis dim">
        {assertion.basis}
      </span>
    </>
  );
}
