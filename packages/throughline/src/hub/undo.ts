import { ThroughlineError } from '../errors.ts';
import type { Graph } from '../graph/index.ts';
import type { Assertion, Draft, Statement } from '../model/index.ts';
import { openEntry } from './statements.ts';
import type { Workspace } from './workspace.ts';

const page = 500;

type Contrary = Pick<Draft, 'about' | 'statement' | 'cause'>;

/** What may take back a statement of each kind. */
const contraries: Partial<Record<Statement['says'], Statement['says']>> = {
  'activity.closed': 'activity.reopened',
  'activity.reopened': 'activity.closed',
  'activity.labelled': 'activity.labelled',
  'relationship.asserted': 'relationship.revoked',
  'relationship.revoked': 'relationship.asserted',
  'dialog.state': 'dialog.state',
  'dialog.bound': 'dialog.bound',
  'task.bound': 'task.bound',
  'task.state': 'task.state',
  'task.unresolved': 'task.unresolved',
};

/**
 * What takes back an assertion by hand, and whatever was said because of it; undefined when the case has
 * no such assertion. Throws `invalid` for what was not said by hand or can't be taken back.
 */
export async function compensations(
  workspace: Workspace,
  activity: string,
  id: string,
): Promise<Contrary[] | undefined> {
  const log = await readLog(workspace, activity);
  const target = log.find((each) => each.id === id);
  if (target === undefined) return undefined;
  const isContrary = ({ about, statement }: Assertion): boolean =>
    about === target.about && statement.says === contraries[target.statement.says];
  const followed = log.filter(
    (each) => each.cause === id && each.basis === 'supervised' && !isContrary(each),
  );
  const drafts: Contrary[] = [];
  for (const each of [target, ...followed]) {
    await workspace.need([each.about]);
    if (each.statement.says.startsWith('relationship.')) await workspace.needEdge(each.about);
    const statement = contraryOf(each, log, workspace);
    if (statement !== undefined) drafts.push({ about: each.about, statement, cause: each.id });
    else if (each === target) throw lasting(each);
  }
  return drafts;
}

const lasting = ({ basis, statement }: Assertion) =>
  new ThroughlineError(
    'invalid',
    basis === 'supervised'
      ? `assertion: ${statement.says} can’t be taken back`
      : 'assertion: was not said by hand; only what people said by hand is undone by hand',
  );

type Kind = Statement['says'];
type Said = { [K in Kind]: Extract<Statement, { says: K }> };

/** What is known where something is taken back. */
interface Place {
  readonly about: string;
  readonly seq: number;
  /** What was said of the same object before. */
  readonly earlier: readonly Statement[];
  readonly graph: Graph;
}

const boundAnew = (statement: Statement | undefined): Statement | undefined =>
  statement?.says === 'dialog.bound' || statement?.says === 'task.bound'
    ? { ...statement, rebind: true }
    : undefined;

const lastOf = (says: Kind, earlier: readonly Statement[]): Statement | undefined =>
  earlier.findLast((each) => each.says === says);

const takenBack: Partial<{
  readonly [K in Kind]: (statement: Said[K], place: Place) => Statement | undefined;
}> = {
  'activity.closed': () => ({ says: 'activity.reopened' }),
  'activity.reopened': () => ({ says: 'activity.closed' }),
  'activity.labelled': ({ label: { name } }, { earlier }) => {
    const labels = earlier.flatMap((each) =>
      each.says === 'activity.labelled' ? [each.label] : [],
    );
    const before = labels.findLast((label) => label.name === name);
    return { says: 'activity.labelled', label: before ?? { name } };
  },
  'relationship.asserted': () => ({ says: 'relationship.revoked' }),
  'relationship.revoked': (_, { graph, about }) => {
    const edge = graph.relationship(about);
    if (edge === undefined) return undefined;
    const { type, from, to, role, note, selector } = edge;
    return {
      says: 'relationship.asserted',
      type,
      from,
      to,
      ...(role === undefined ? {} : { role }),
      ...(note === undefined ? {} : { note }),
      ...(selector === undefined ? {} : { selector }),
    };
  },
  'task.unresolved': ({ resolved }) => ({ says: 'task.unresolved', resolved: resolved !== true }),
  'dialog.state': (_, { earlier }) => lastOf('dialog.state', earlier),
  'dialog.bound': (_, { earlier }) => boundAnew(lastOf('dialog.bound', earlier)),
  'task.bound': (_, { earlier }) => boundAnew(lastOf('task.bound', earlier)),
  'task.state': (_, { earlier, graph, about, seq }) => {
    const task = graph.task(about);
    if (task?.stateSeq === seq) return lastOf('task.state', earlier);
    // It moved nothing and stands beside: agreeing takes the word back.
    if (task === undefined) return undefined;
    const { state, awaiting, outcome } = task;
    return {
      says: 'task.state',
      state,
      ...(awaiting === undefined ? {} : { awaiting }),
      ...(outcome === undefined ? {} : { outcome }),
    };
  },
};

const takeBack = <K extends Kind>(says: K, statement: Said[K], place: Place) =>
  takenBack[says]?.(statement, place);

function contraryOf(
  { about, seq, statement, basis }: Assertion,
  log: readonly Assertion[],
  { graph }: Workspace,
): Statement | undefined {
  if (basis !== 'supervised') return undefined;
  const earlier = log
    .filter((each) => each.about === about && each.seq < seq)
    .map((each) => each.statement);
  return takeBack(statement.says, statement, { about, seq, earlier, graph });
}

async function readLog({ reader, boxes }: Workspace, activity: string): Promise<Assertion[]> {
  const log: Assertion[] = [];
  for (let after = 0, isEnd = false; !isEnd;) {
    const entries = await reader.log({ activity, after, limit: page });
    for (const entry of entries) {
      const assertion = await openEntry(entry, boxes);
      if (assertion !== undefined) log.push(assertion);
    }
    after = entries.at(-1)?.seq ?? after;
    isEnd = entries.length < page;
  }
  return log;
}
