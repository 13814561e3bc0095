import { useState, type ReactElement } from 'react';
import { Button, Disclosure, DisclosurePanel, Heading } from 'react-aria-components';
import { describeCompressed, describeModel, describeSent } from 'throughline/model';
import { useTexts } from '../data/queries.ts';
import { Icon } from '../ui/icon.tsx';
import { figure, upperFirst } from '../words/numbers.ts';
import { plain, type Handover } from './case-index.ts';
import { Part, type DetailsProps } from './details-parts.tsx';
import { TokenLine } from './token-line.tsx';

/** What was handed over with a Task: figures, what was withheld, and the texts they were counted on. */
export function HandoverPart({ index, id, caseId }: DetailsProps): ReactElement | null {
  const handover = index.handover(id);
  const [isOpen, setOpen] = useState(false);
  if (handover === undefined) return null;
  const { sent, fullHistory, returned, withheld, tokenizer, usage = [], compression } = handover;
  return (
    <Part title="Handed over">
      <TokenLine sent={sent} full={fullHistory} />
      <p>
        {describeSent(handover)}
        {returned === undefined ? '' : `; ${figure(returned)} returned`}
      </p>
      {compression === undefined ? null : (
        <p>
          {upperFirst(describeCompressed(compression))}
          {compression.missed === undefined ? null : (
            <span className="said dim"> · {plain(compression.missed)}</span>
          )}
        </p>
      )}
      <Models usage={usage} />
      <p>
        {withheld.length === 0 ? 'Nothing was withheld' : 'Withheld: '}
        <strong className="said">{withheld.map(plain).join(', ')}</strong>
      </p>
      <p className="dim">
        counted with {tokenizer}
        {compression === undefined && usage.length === 0
          ? ''
          : '; what the agent did with it is told by itself'}
      </p>
      <Disclosure isExpanded={isOpen} onExpandedChange={setOpen} className="disclosure">
        <Heading level={4}>
          <Button slot="trigger" className="link">
            <Icon name="chevron" />
            Read both texts
          </Button>
        </Heading>
        <DisclosurePanel>{isOpen ? <Texts caseId={caseId} taskId={id} /> : null}</DisclosurePanel>
      </Disclosure>
    </Part>
  );
}

/** What models of a Master itself used for a run, which goes by its Task. */
export function OwnModelsPart({ index, id }: DetailsProps): ReactElement | null {
  const usage = (index.view.runs ?? []).flatMap((each) => (each.run === id ? each.usage : []));
  return usage.length === 0 ? null : (
    <Part title="Models for planning and grading">
      <Models usage={usage} />
    </Part>
  );
}

function Models({ usage }: { readonly usage: NonNullable<Handover['usage']> }): ReactElement {
  return (
    <ul className="plain">
      {usage.map((used) => (
        <li key={`${used.model} ${used.money === undefined}`}>
          <span className="said">{plain(describeModel(used))}</span>
        </li>
      ))}
    </ul>
  );
}

const mostShown = 20_000;

function Texts({
  caseId,
  taskId,
}: {
  readonly caseId: string;
  readonly taskId: string;
}): ReactElement {
  const { data, error } = useTexts(caseId, taskId);
  if (error !== null) return <p role="alert">{error.message}</p>;
  if (data === undefined) return <p role="status">Reading the texts …</p>;
  const texts = [
    ['Sent', data.sent],
    ['Full history', data.fullHistory],
    ...(data.returned === undefined ? [] : [['Returned', data.returned] as const]),
  ] as const;
  return (
    <>
      {texts.map(([name, text]) => (
        <figure key={name} className="text">
          <figcaption>{name}</figcaption>
          <pre tabIndex={0} aria-label={name}>
            {text.slice(0, mostShown)}
          </pre>
          {text.length > mostShown ? (
            <p className="dim">
              The first {figure(mostShown)} of {figure(text.length)} characters.
            </p>
          ) : null}
        </figure>
      ))}
    </>
  );
}
