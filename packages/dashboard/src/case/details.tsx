import type { ReactElement } from 'react';
import { Button } from 'react-aria-components';
import { useQuestion } from '../data/question.ts';
import { CopiedId } from '../ui/copied-id.tsx';
import { Icon, StateMark } from '../ui/icon.tsx';
import { useNow } from '../ui/use-now.ts';
import { reading } from '../words/relations.ts';
import { taskMarks } from '../words/states.ts';
import { ago, clock } from '../words/time.ts';
import {
  plain,
  type CaseIndex,
  type CaseObject,
  type Dialog,
  type Relationship,
} from './case-index.ts';
import { usesOf } from './documents.ts';
import { factsOf, linksOf } from './facts.ts';
import { ObjectLink, Part, type DetailsProps } from './details-parts.tsx';
import { HandoverPart, OwnModelsPart } from './handover-part.tsx';
import { comesFrom, ledTo, type LineageStep } from './lineage.ts';
import { stateOf } from './state-of.ts';
import { whoseStep, whyFailed, whyStuck } from './stuck.ts';

const kinds: Readonly<Record<CaseObject['kind'], string>> = {
  activity: 'Case',
  dialog: 'Dialog',
  task: 'Task',
  resource: 'Document',
  participant: 'Participant',
};

/** Everything that is known of one object of the case. */
export function Details(props: DetailsProps): ReactElement {
  const { index, id, select, showInTimeline } = props;
  const object = index.objects.get(id);
  if (object === undefined) return <p className="dim">Choose something to see its details.</p>;
  const words = stateOf(index, object);
  return (
    <article className="details-body" data-details={id}>
      <p className="kind">
        <Icon name={object.kind} />
        {kinds[object.kind]}
      </p>
      {object.kind === 'activity' ? null : (
        <h2 className="said">
          {object.kind === 'dialog' ? titleOf(index, object.value) : index.label(id)}
        </h2>
      )}
      <CopiedId id={id} name={`the ${kinds[object.kind].toLowerCase()}’s id`} />
      {words === undefined || object.kind === 'activity' ? null : (
        <p className="details-state">
          <StateMark words={words} />
        </p>
      )}
      {object.kind === 'task' ? <TaskState {...props} task={object.value} /> : null}
      <Facts index={index} object={object} select={select} />
      {object.kind === 'activity' ? <People {...props} /> : null}
      {object.kind === 'task' ? <HandoverPart {...props} /> : null}
      {object.kind === 'task' ? <OwnModelsPart {...props} /> : null}
      {object.kind === 'resource' ? <Recipients {...props} resource={object.value} /> : null}
      <Given {...props} title="Was given" edges={index.given(id)} />
      <Given {...props} title="Put out" edges={index.produced(id)} />
      <Lineage {...props} title="Came from" steps={comesFrom(index, id)} />
      {object.kind === 'resource' ? (
        <Lineage {...props} title="Led to" steps={ledTo(index, id)} />
      ) : null}
      <Conflicts {...props} />
      <Relationships {...props} />
      <p>
        <Button className="link" onPress={() => showInTimeline(id)}>
          All that was said about it
        </Button>
      </p>
    </article>
  );
}

/** A Dialog by what it is about, where that was said. */
const titleOf = (index: CaseIndex, { id, objective }: Dialog): string =>
  plain(objective ?? '') || index.label(id);

function TaskState({
  index,
  task,
}: DetailsProps & { readonly task: Extract<CaseObject, { kind: 'task' }>['value'] }): ReactElement {
  const now = useNow();
  const stuck = whyStuck(index, task);
  const step = whoseStep(index, task.id);
  const failed = whyFailed(index, task);
  const since = index.history.timeOf(task.stateSeq);
  const { stateBasis, stateSource, stateSeq, contested = [] } = task;
  const asks = task.state === 'awaiting' && task.awaiting !== 'result';
  const question = useQuestion(asks ? task.localId : undefined, stateSeq);
  const from = stateSource === undefined ? '' : ` by ${index.label(stateSource)}`;
  return (
    <>
      {stuck === undefined && failed === undefined ? null : (
        <p className="why" data-tone={stuck === undefined ? 'bad' : 'wait'}>
          {stuck === undefined ? `Went wrong: ${failed}` : `Stuck: ${stuck}`}
          {since === undefined ? '' : `, since ${clock(since)} (${ago(since, now)})`}
          {step === '' ? '' : `. Next step: ${step}`}
        </p>
      )}
      {question === undefined ? null : (
        <Part title="It asks">
          <p className="said question">{plain(question)}</p>
        </Part>
      )}
      {stateBasis === undefined ? null : (
        <p className="dim">
          {stateBasis}
          {from}
          {stateSeq === undefined ? '' : `, no. ${stateSeq}`}
        </p>
      )}
      {taskMarks(task).includes('cancel requested') ? (
        <p>Cancelling was requested; that is a request, not the end.</p>
      ) : null}
      {contested.length === 0 ? null : (
        <Part title="Others say">
          <ul className="plain">
            {contested.map((word) => (
              <li key={word.seq}>
                <span className="said">{index.label(word.source)}</span> says {word.state}
                <span className="dim">
                  {' '}
                  ({word.basis}, no. {word.seq})
                </span>
              </li>
            ))}
          </ul>
        </Part>
      )}
    </>
  );
}

function Facts({
  index,
  object,
  select,
}: Pick<DetailsProps, 'index' | 'select'> & { readonly object: CaseObject }): ReactElement | null {
  const facts = factsOf(index, object);
  if (facts.length === 0) return null;
  return (
    <dl className="facts">
      {facts.map(({ name, value, link, isId }) => (
        <div key={`${name} ${link ?? value}`}>
          <dt>{name}</dt>
          <dd>
            {link === undefined ? (
              <span className={isId === true ? 'id said' : 'said'}>{plain(value)}</span>
            ) : (
              <ObjectLink index={index} id={link} select={select} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function People({ index, select }: DetailsProps): ReactElement {
  return (
    <Part title="Who takes part">
      <ul className="plain">
        {index.view.participants.map(({ id, kind }) => (
          <li key={id}>
            <ObjectLink index={index} id={id} select={select} />
            <span className="dim"> {kind}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** Who got a document, as what. */
function Recipients({
  index,
  resource,
  select,
}: DetailsProps & { readonly resource: Extract<CaseObject, { kind: 'resource' }>['value'] }) {
  const uses = usesOf(index, resource);
  return (
    <Part title="Who got it">
      {uses.length === 0 ? <p className="dim">Nobody was given it.</p> : null}
      <ul className="plain">
        {uses.map(({ key, who, target, edge }) => (
          <li key={key}>
            <strong className="said block">{who ?? 'The whole case'}</strong>
            <ObjectLink index={index} id={target} select={select} />
            <Role edge={edge} />
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Role({ edge: { role, note } }: { readonly edge: Relationship }): ReactElement | null {
  const words = [role, note].flatMap((text) => text ?? []).map(plain);
  if (words.length === 0) return null;
  return <span className="role said">as “{words.join(' · ')}”</span>;
}

function Given({
  index,
  title,
  edges,
  select,
}: DetailsProps & { readonly title: string; readonly edges: readonly Relationship[] }) {
  if (edges.length === 0) return null;
  return (
    <Part title={title}>
      <ul className="plain">
        {edges.map((edge) => (
          <li key={edge.id}>
            <ObjectLink index={index} id={edge.from} select={select} />
            <Role edge={edge} />
          </li>
        ))}
      </ul>
    </Part>
  );
}

const deepest = 6;

function Lineage({
  index,
  title,
  steps,
  select,
}: DetailsProps & { readonly title: string; readonly steps: readonly LineageStep[] }) {
  if (steps.length === 0) return null;
  return (
    <Part title={title}>
      <ol className="lineage">
        {steps.map(({ id, relation, depth, edge }) => (
          <li key={id} data-depth={Math.min(depth, deepest)}>
            <span className="dim">
              {reading(relation, edge.to === id ? 'forward' : 'backward')}
            </span>
            <ObjectLink index={index} id={id} select={select} />
          </li>
        ))}
      </ol>
    </Part>
  );
}

function Conflicts({ index, id }: DetailsProps): ReactElement | null {
  const conflicts = index.conflictsAbout(id);
  if (conflicts.length === 0) return null;
  return (
    <Part title="Said and not applied">
      <ul className="plain">
        {conflicts.map(({ assertion, seq, rule, message }) => (
          <li key={assertion} className="conflict">
            <span className="mark" data-tone="bad">
              {rule.replaceAll('-', ' ')}
            </span>{' '}
            <span className="dim">no. {seq}</span>
            <br />
            <span className="said">{plain(message)}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

const shownLinks = 200;

function Relationships({ index, id, select }: DetailsProps): ReactElement | null {
  const links = linksOf(index, id);
  if (links.length === 0) return null;
  return (
    <Part title="Relationships">
      <ul className="plain">
        {links.slice(0, shownLinks).map(({ edge, direction, other }) => (
          <li key={`${edge.id} ${direction}`} data-status={edge.status}>
            <span className="dim">
              {edge.status === 'revoked' ? 'revoked: ' : ''}
              {reading(edge.type, direction)}{' '}
            </span>
            <ObjectLink index={index} id={other} select={select} />
            <span className="dim by"> said by {index.label(edge.assertedBy)}</span>
          </li>
        ))}
      </ul>
      {links.length > shownLinks ? (
        <p className="dim">and {links.length - shownLinks} more, in the timeline</p>
      ) : null}
    </Part>
  );
}
