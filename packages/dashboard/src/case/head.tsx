import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { Button } from 'react-aria-components';
import { describeCompressed, describeModels, describeSent } from 'throughline/model';
import { Labels } from '../cases/labels.tsx';
import { CopiedId } from '../ui/copied-id.tsx';
import { Freshness } from '../ui/freshness.tsx';
import { Icon, StateMark } from '../ui/icon.tsx';
import { useNow } from '../ui/use-now.ts';
import { count, figure, upperFirst } from '../words/numbers.ts';
import { closedWords } from '../words/states.ts';
import { ago, moment } from '../words/time.ts';
import { plain, type CaseIndex } from './case-index.ts';
import { recipients } from './documents.ts';
import { troubles, whoseStep, type Trouble } from './stuck.ts';
import { spentInCase, withheldFrom } from './tokens.ts';
import { TokenLine } from './token-line.tsx';

interface HeadProps {
  readonly index: CaseIndex;
  readonly query: UseQueryResult;
  readonly select: (id: string) => void;
  /** Opens a view of the case, with only what holds these words. */
  readonly show: (tab: 'documents' | 'handovers', find: string) => void;
}

/** What the case is, and the answers that most readers come for. */
export function CaseHead({ index, query, select, show }: HeadProps): ReactElement {
  const { summary, conflicts, truncated } = index.view;
  const about = plain(summary.objective ?? '') || 'Nothing said about it';
  const now = useNow();
  const id = summary.contextId ?? summary.activity;
  return (
    <div className="head">
      <title>{`${about} · Throughline`}</title>
      <div className="head-line">
        <a className="back" href="#/">
          <Icon name="back" />
          Cases
        </a>
        <Freshness query={query} />
      </div>
      <h1 className="said">{about}</h1>
      <div className="under">
        <StateMark words={closedWords(summary.closed)} />
        <Labels of={summary} />
        <CopiedId id={id} name="the case’s id" />
        <span>
          owner <span className="said">{plain(summary.owner ?? 'not known')}</span>
        </span>
        <span className="opened">opened {moment(summary.openedAt)}</span>
        <time dateTime={summary.updatedAt} title={moment(summary.updatedAt)}>
          changed {ago(summary.updatedAt, now)}
        </time>
        <span className="counts">
          {count(summary.counts.dialogs, 'dialog')}, {count(summary.counts.tasks, 'task')},{' '}
          {count(summary.counts.resources, 'document')}
        </span>
      </div>
      {conflicts.length === 0 ? null : (
        <p className="mark-line">
          {count(conflicts.length, 'statement')} in conflict, kept and not applied.
        </p>
      )}
      {truncated === true ? (
        <p className="mark-line">
          This case holds more than can be looked at together. The rest is in its timeline.
        </p>
      ) : null}
      <div className="answers">
        <Attention index={index} select={select} />
        <Received index={index} show={show} />
        <Saved index={index} show={show} />
      </div>
    </div>
  );
}

const shownAtFirst = 3;

function Attention({ index, select }: Pick<HeadProps, 'index' | 'select'>): ReactElement {
  const [isWhole, setWhole] = useState(false);
  const now = useNow();
  const found = troubles(index);
  const stuck = found.filter(({ kind }) => kind === 'stuck').length;
  const shown = isWhole ? found.slice(0, 100) : found.slice(0, shownAtFirst);
  return (
    <section aria-label="Needs attention" className="attention">
      <h2>{found.length === 0 ? 'Needs attention' : title(stuck, found.length - stuck)}</h2>
      {found.length === 0 ? <p>Nothing is stuck, nothing went wrong</p> : null}
      <ul>
        {shown.map((each) => (
          <li key={each.id}>
            <TroubleLine index={index} trouble={each} now={now} select={select} />
          </li>
        ))}
      </ul>
      {found.length > shownAtFirst ? (
        <Button className="link" onPress={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `and ${figure(found.length - shownAtFirst)} more`}
        </Button>
      ) : null}
    </section>
  );
}

function title(stuck: number, errors: number): string {
  const parts = [
    ...(stuck === 0 ? [] : [`${figure(stuck)} stuck`]),
    ...(errors === 0 ? [] : [`${figure(errors)} went wrong`]),
  ];
  return parts.join(', ');
}

interface TroubleProps {
  readonly index: CaseIndex;
  readonly trouble: Trouble;
  readonly now: number;
  readonly select: (id: string) => void;
}

function TroubleLine({ index, trouble, now, select }: TroubleProps): ReactElement {
  const { id, kind, why } = trouble;
  const since = index.history.timeOf(index.task(id)?.stateSeq);
  const dialog = index.dialog(index.task(id)?.dialog ?? '');
  const worker = dialog === undefined ? undefined : index.worker(dialog);
  const step = whoseStep(index, id);
  return (
    <Button
      className="trouble"
      data-tone={kind === 'stuck' ? 'wait' : 'bad'}
      onPress={() => select(id)}
    >
      <Icon name={kind === 'stuck' ? 'pause' : 'cross'} />
      <span className="trouble-text">
        <span className="said">{index.label(id)}</span>
        <span className="why">
          {why}
          {since === undefined ? '' : ` · ${ago(since, now)}`}
        </span>
        <span className="step">
          {worker === undefined ? '' : `at ${index.label(worker)}`}
          {step === '' ? null : (
            <>
              {worker === undefined ? '' : ' · '}
              next step: <span className="said">{step}</span>
            </>
          )}
        </span>
      </span>
    </Button>
  );
}

function Received({ index, show }: Pick<HeadProps, 'index' | 'show'>): ReactElement {
  const got = recipients(index);
  const shown = got.slice(0, shownAtFirst);
  return (
    <section aria-label="Who got which document">
      <h2>Who got which document</h2>
      {got.length === 0 ? <p>No document was given to anybody</p> : null}
      <ul className="received">
        {shown.map(({ who, documents }) => (
          <li key={who ?? ''}>
            <Button
              className="answer"
              aria-label={`${who ?? 'the whole case'}: ${documents.join(', ')}`}
              onPress={() => show('documents', who ?? '')}
            >
              <span className="said who">{who ?? 'the whole case'}</span>
              <span className="dim">{count(documents.length, 'document')}</span>
              <span className="said dim what" title={documents.join(', ')}>
                {documents.join(', ')}
              </span>
            </Button>
          </li>
        ))}
      </ul>
      {got.length > shownAtFirst ? (
        <Button className="link" onPress={() => show('documents', '')}>
          and {figure(got.length - shownAtFirst)} more
        </Button>
      ) : null}
    </section>
  );
}

function Saved({ index, show }: Pick<HeadProps, 'index' | 'show'>): ReactElement {
  const spent = spentInCase(index);
  const withheld = withheldFrom(index.view.handovers);
  const { handovers, sent, fullHistory, compressed } = spent;
  const models = describeModels(spent);
  if (handovers === 0) {
    return (
      <section aria-label="What the hand-overs saved">
        <h2>Hand-overs</h2>
        <p>Nothing was handed over by a Master here</p>
        {models === undefined ? null : <p>{upperFirst(models)}</p>}
      </section>
    );
  }
  const saved = fullHistory - sent;
  return (
    <section aria-label="What the hand-overs saved">
      <h2>
        {saved >= 0
          ? `${figure(saved)} tokens saved`
          : `${figure(-saved)} tokens more than the history`}
      </h2>
      <TokenLine sent={sent} full={fullHistory} />
      <p>{describeSent(spent)}</p>
      {compressed === undefined ? null : <p>{upperFirst(describeCompressed(compressed))}</p>}
      {models === undefined ? null : <p>{upperFirst(models)}</p>}
      {withheld.length === 0 ? null : (
        <p className="dim clamp" title={withheld.join(', ')}>
          {figure(withheld.length)} withheld: <span className="said">{withheld.join(', ')}</span>
        </p>
      )}
      <Button className="link" onPress={() => show('handovers', '')}>
        {count(handovers, 'hand-over')}, one by one
      </Button>
    </section>
  );
}
