import { useDeferredValue, useMemo, useState, type ReactElement } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import type { CaseSummary } from 'throughline/model';
import { plain } from '../case/case-index.ts';
import { useCases } from '../data/queries.ts';
import { formatRoute } from '../frame/route.ts';
import { Freshness } from '../ui/freshness.tsx';
import { StateMark } from '../ui/icon.tsx';
import { Failure, Loading, Notice } from '../ui/notice.tsx';
import { Rows } from '../ui/rows.tsx';
import { ScrollerContext } from '../ui/scroller.ts';
import { SearchBox } from '../ui/search-box.tsx';
import { useNow } from '../ui/use-now.ts';
import { count, figure } from '../words/numbers.ts';
import { closedWords, type StateWords } from '../words/states.ts';
import { ago, moment } from '../words/time.ts';
import { Labels } from './labels.tsx';
import { allOf, type KnownCases } from './known-cases.ts';
import { findCases, inOrder, stepsOf, type CaseFilter } from './order.ts';

const filters: readonly (readonly [CaseFilter, string])[] = [
  ['all', 'All'],
  ['stuck', 'Stuck'],
  ['open', 'Open'],
  ['closed', 'Closed'],
];
const isFilter = (value: unknown): value is CaseFilter => filters.some(([name]) => name === value);

/** The list of cases: those that are stuck first, then by latest change. */
export function CasesPage(): ReactElement {
  const { query, isReadingOlder, readOlder } = useCases();
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [words, setWords] = useState('');
  const [filter, setFilter] = useState<CaseFilter>('all');
  const wanted = useDeferredValue(words);
  const known = query.data;
  const shown = useMemo(
    () => inOrder(findCases(known === undefined ? [] : allOf(known), wanted, filter)),
    [known, wanted, filter],
  );
  return (
    <main className="scroller" ref={setScroller}>
      <ScrollerContext value={scroller}>
        <title>Cases · Throughline</title>
        <div className="head">
          <div className="head-line">
            <h1>Cases</h1>
            {known === undefined ? null : <Freshness query={query} />}
          </div>
          {known === undefined || known.cases.length === 0 ? null : (
            <Standing {...known} showStuck={() => setFilter('stuck')} />
          )}
        </div>
        <div className="tools">
          <SearchBox
            label="Find cases"
            placeholder="Find by what it is about, label, id, owner"
            value={words}
            onChange={setWords}
          />
          <ToggleButtonGroup
            className="choice"
            aria-label="Which cases"
            selectionMode="single"
            disallowEmptySelection
            selectedKeys={[filter]}
            onSelectionChange={([next]) => {
              if (isFilter(next)) setFilter(next);
            }}
          >
            {filters.map(([id, label]) => (
              <ToggleButton key={id} id={id}>
                {label}
              </ToggleButton>
            ))}
          </ToggleButtonGroup>
        </div>
        <List
          isPending={query.isPending}
          error={known === undefined ? query.error : null}
          retry={() => void query.refetch()}
          shown={shown}
          total={known === undefined ? 0 : allOf(known).length}
          onEnd={readOlder}
        />
        {known?.cursor === undefined ? null : (
          <Older
            total={known.cases.length}
            isReading={isReadingOlder}
            isSearch={wanted !== '' || filter !== 'all'}
            isAll={filter === 'stuck' && known.stuck?.isCut === false}
            readOlder={readOlder}
          />
        )}
      </ScrollerContext>
    </main>
  );
}

interface StandingProps extends KnownCases {
  readonly showStuck: () => void;
}

function Standing({ showStuck, ...known }: StandingProps): ReactElement {
  const { cases, cursor } = known;
  const stuck = allOf(known).filter((each) => each.stuck > 0).length;
  const isCut = known.stuck?.isCut === true;
  const all =
    cursor === undefined ? count(cases.length, 'case') : `the latest ${figure(cases.length)} shown`;
  if (stuck === 0) return <p className="standing">{all}, nothing stuck</p>;
  return (
    <p className="standing">
      <button type="button" className="link" data-tone="wait" onClick={showStuck}>
        {isCut ? 'more than ' : ''}
        {figure(stuck)} stuck
      </button>
      {cursor === undefined ? `, of ${all}` : `, of all cases; ${all}`}
    </p>
  );
}

interface OlderProps {
  readonly total: number;
  readonly isReading: boolean;
  readonly isSearch: boolean;
  /** What is looked for is known of older ones, too. */
  readonly isAll: boolean;
  readonly readOlder: () => void;
}

function Older({ total, isReading, isSearch, isAll, readOlder }: OlderProps): ReactElement {
  if (isAll) return <p className="foot">Looked through all cases.</p>;
  return (
    <p className="foot">
      {isSearch ? `Looked through the latest ${figure(total)} cases. ` : ''}
      <button type="button" className="link" disabled={isReading} onClick={readOlder}>
        {isReading ? 'Reading older cases …' : isSearch ? 'Look through older ones' : 'Older cases'}
      </button>
    </p>
  );
}

interface ListProps {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  readonly shown: readonly CaseSummary[];
  readonly total: number;
  readonly onEnd: () => void;
}

const columns = ['State', 'Next step', 'Case', 'Owner', 'Holds', 'Changed'];
const keyOf = ({ activity }: CaseSummary): string => activity;
const nothing = (): boolean => false;

function List({ isPending, error, retry, shown, total, onEnd }: ListProps): ReactElement {
  const now = useNow();
  if (isPending) return <Loading what="the cases" />;
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (total === 0) {
    return (
      <Notice title="No case yet" icon="activity">
        <p>
          A case begins with the first message to an agent behind this hub. It appears here by
          itself.
        </p>
      </Notice>
    );
  }
  if (shown.length === 0) {
    return (
      <Notice title="No case matches" icon="search">
        <p>Nothing about it, no id and no owner holds these words.</p>
      </Notice>
    );
  }
  return (
    <Rows
      label="Cases"
      look="cases"
      columns={columns}
      rows={shown}
      keyOf={keyOf}
      isSelected={nothing}
      onChoose={({ contextId, activity }) => {
        window.location.hash = formatRoute({
          page: 'case',
          id: contextId ?? activity,
          tab: 'tree',
        });
      }}
      onEnd={onEnd}
      attributes={({ activity, stuck }) => ({ 'data-id': activity, 'data-stuck': String(stuck) })}
      renderCells={(each) => <Cells summary={each} now={now} />}
    />
  );
}

function Cells({
  summary,
  now,
}: {
  readonly summary: CaseSummary;
  readonly now: number;
}): ReactElement {
  const { contextId, activity, objective, owner, counts, updatedAt } = summary;
  const id = contextId ?? activity;
  const about = plain(objective ?? '') || 'Nothing said about it';
  const steps = stepsOf(summary).join(', ');
  return (
    <>
      <span role="gridcell" className="cell cell-state">
        <StateMark words={standingOf(summary)} />
      </span>
      <span role="gridcell" className="cell cell-step said" title={steps}>
        {steps}
      </span>
      <span role="gridcell" className="cell cell-about">
        <span className="said" title={about}>
          {about}
        </span>
        <Labels of={summary} />
        <code className="id">{id}</code>
      </span>
      <span role="gridcell" className="cell cell-owner said">
        {plain(owner ?? '–')}
      </span>
      <span role="gridcell" className="cell cell-holds dim">
        {count(counts.dialogs, 'dialog')}, {count(counts.tasks, 'task')}
        {counts.resources === 0 ? '' : `, ${count(counts.resources, 'document')}`}
      </span>
      <span role="gridcell" className="cell cell-when dim">
        <time dateTime={updatedAt} title={moment(updatedAt)}>
          {ago(updatedAt, now)}
        </time>
      </span>
    </>
  );
}

const standingOf = ({ stuck, failed = 0, closed, erased }: CaseSummary): StateWords =>
  erased === true
    ? { tone: 'rest', shape: 'dash', text: 'erased' }
    : stuck > 0
      ? { tone: 'wait', shape: 'pause', text: `${figure(stuck)} stuck` }
      : failed > 0
        ? { tone: 'bad', shape: 'cross', text: `${figure(failed)} failed` }
        : closedWords(closed);
