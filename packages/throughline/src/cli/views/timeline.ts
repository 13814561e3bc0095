import type { Assertion, Statement } from '../../model/assertion.ts';
import { clean } from '../terminal.ts';
import { drawLine } from './draw.ts';
import { clock, type Words } from './words.ts';

type Said = { [K in Statement['says']]: Extract<Statement, { says: K }> };
type Phrase<K extends Statement['says']> = (statement: Said[K], words: Words) => string;

const quoted = (text: string | undefined): string =>
  text === undefined ? '' : ` “${clean(text)}”`;
const bracketed = (text: string | undefined): string =>
  text === undefined ? '' : ` (${clean(text)})`;

/** A phrase for each statement; what it is about stands before it. */
const phrases: { readonly [K in Statement['says']]: Phrase<K> } = {
  'participant.known': ({ kind, name }) => `known as ${kind}${quoted(name)}`,
  'activity.opened': ({ objective }) => `opened${quoted(objective)}`,
  'activity.closed': () => 'closed',
  'activity.reopened': () => 'opened again',
  'activity.labelled': ({ label: { name, value } }) =>
    value === undefined
      ? `without label ${clean(name)}`
      : `labelled ${clean(name)}${quoted(value)}`,
  'activity.erased': () => 'erased: what people wrote in it is destroyed',
  'dialog.opened': ({ participants, objective }, words) =>
    `opened: ${participants.map((id) => words.participant(id)).join(' → ')}${quoted(objective)}`,
  'dialog.state': ({ state, reason, inferred }) =>
    `is ${state}${bracketed(reason)}${inferred === true ? ', inferred' : ''}`,
  'dialog.bound': ({ local, rebind }, words) =>
    `is ${rebind === true ? 'now ' : ''}${local.protocol} ${words.terminal.id(local.localId)}`,
  'dialog.joined': ({ participant }, words) => `joined by ${words.participant(participant)}`,
  'dialog.left': ({ participant }, words) => `left by ${words.participant(participant)}`,
  'task.defined': ({ objective }) => `defined${quoted(objective)}`,
  'task.bound': ({ localId, rebind }, words) =>
    `is ${rebind === true ? 'now ' : ''}called ${words.terminal.id(localId)} there`,
  'task.state': ({ state, awaiting, outcome }) =>
    `is ${state}${bracketed(awaiting)}${outcome === 'error' ? ' with an error' : ''}`,
  'task.cancel-requested': () => 'is asked to be cancelled',
  'task.unresolved': ({ resolved }) =>
    resolved === true ? 'has a known outcome again' : 'has an outcome that nobody knows',
  'resource.known': ({ name, mediaType, size }) =>
    `known${quoted(name)}${bracketed(mediaType)}${size === undefined ? '' : `, ${size.toLocaleString('en')} bytes`}`,
  'relationship.asserted': ({ type, from, to, role }, words) =>
    `${words.terminal.id(from)} ${type} ${words.terminal.id(to)}${quoted(role)}`,
  'relationship.revoked': () => 'revoked',
};

function phrase<K extends Statement['says']>(statement: Said[K], says: K, words: Words): string {
  return phrases[says](statement, words);
}

/** A relationship is best told by its ends; everything else by its own id first. */
const sentence = (id: string, what: string, { says }: Statement): string =>
  says === 'relationship.asserted' ? `${what} (${id})` : `${id} ${what}`;

/**
 * The case as it was told, one assertion a line: number, time, whose word, what. `numbers` keeps those of
 * all that was shown, for what comes later because of it.
 */
export function timelineLines(
  words: Words,
  assertions: readonly Assertion[],
  numbers = new Map<string, number>(),
): string[] {
  const { terminal } = words;
  const digits = String(assertions.at(-1)?.seq ?? 0).length;
  for (const { id, seq } of assertions) numbers.set(id, seq);
  return assertions.map(({ seq, recordedAt, source, about, basis, statement, cause }) => {
    const number = terminal.paint('dim', String(seq).padStart(digits));
    const what = phrase(statement, statement.says, words);
    const why = cause === undefined ? '' : ` because of #${numbers.get(cause) ?? cause}`;
    const how = basis === 'reported' ? why : `${why} [${basis}]`;
    return drawLine(terminal, '', {
      whole: `${number}  ${clock(recordedAt)}`,
      text: `${words.participant(source)}: ${sentence(terminal.id(about), what, statement)}${how}`,
    });
  });
}
