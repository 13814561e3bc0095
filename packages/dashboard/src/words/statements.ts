import type { Assertion } from 'throughline/model';
import { plain, type CaseIndex } from '../case/case-index.ts';
import { bytes } from './numbers.ts';
import { reading } from './relations.ts';

type Statement = Assertion['statement'];
type Said = { [K in Statement['says']]: Extract<Statement, { says: K }> };
type Phrase<K extends Statement['says']> = (statement: Said[K], index: CaseIndex) => string;

const quoted = (text: string | undefined): string =>
  text === undefined ? '' : ` “${plain(text)}”`;
const bracketed = (text: string | undefined): string =>
  text === undefined ? '' : ` (${plain(text)})`;

const spaced = (word: string): string => word.replaceAll('-', ' ');

/** A phrase for each statement; what it is about stands before it. */
const phrases: { readonly [K in Statement['says']]: Phrase<K> } = {
  'participant.known': ({ kind }) => `is known, a ${kind}`,
  'activity.opened': () => 'was opened',
  'activity.closed': () => 'was closed',
  'activity.reopened': () => 'was opened again',
  'activity.labelled': ({ label: { name, value } }) =>
    value === undefined ? `has no ${name} any more` : `has the ${name} ${plain(value)}`,
  'activity.erased': () => 'was erased: what people wrote in it is destroyed',
  'dialog.opened': ({ participants }, index) =>
    `opened: ${participants.map((id) => index.label(id)).join(' → ')}`,
  'dialog.state': ({ state, reason, inferred }) =>
    `is ${spaced(state)}${bracketed(reason)}${inferred === true ? ', inferred' : ''}`,
  'dialog.bound': ({ local }) => `is ${local.protocol} context ${plain(local.localId)}`,
  'dialog.joined': ({ participant }, index) => `was joined by ${index.label(participant)}`,
  'dialog.left': ({ participant }, index) => `was left by ${index.label(participant)}`,
  'task.defined': ({ dialog }, index) => `was defined in ${index.label(dialog)}`,
  'task.bound': ({ localId }) => `is called ${plain(localId)} there`,
  'task.state': ({ state, awaiting, outcome }) =>
    `is ${spaced(state)}${bracketed(awaiting)}${outcome === 'error' ? ', with an error' : ''}`,
  'task.cancel-requested': () => 'was asked to be cancelled',
  'task.unresolved': ({ resolved }) =>
    resolved === true ? 'has a known outcome again' : 'has an outcome that nobody knows',
  'resource.known': ({ mediaType, size }) =>
    `is known${bracketed(mediaType)}${size === undefined ? '' : `, ${bytes(size)}`}`,
  'relationship.asserted': ({ type, to, role }, index) =>
    `${reading(type, 'forward')} ${index.label(to)}${role === undefined ? '' : ` as${quoted(role)}`}`,
  'relationship.revoked': () => 'was revoked',
};

function phrase<K extends Statement['says']>(
  says: K,
  statement: Said[K],
  index: CaseIndex,
): string {
  return phrases[says](statement, index);
}

/** What a statement says, to be read behind the name of what it is about. */
export const phraseOf = ({ statement }: Assertion, index: CaseIndex): string =>
  phrase(statement.says, statement, index);

/** What a line of the timeline is about, to a reader: a relationship is told from where it starts. */
export function subjectOf({ about, statement }: Assertion, index: CaseIndex): string {
  if (statement.says === 'relationship.asserted') return statement.from;
  if (statement.says !== 'relationship.revoked') return about;
  return index.view.relationships.find(({ id }) => id === about)?.from ?? about;
}
