import { spendingOf, type Spending } from 'throughline/model';
import { plain, type CaseIndex, type Handover } from './case-index.ts';

/** What the whole case came to: its hand-overs, and what models of its Masters used. */
export const spentInCase = ({ view: { handovers, runs = [] } }: CaseIndex): Spending =>
  spendingOf(
    handovers,
    runs.flatMap(({ usage }) => usage),
  );

/** Names of what was left out of any of them, each once. */
export const withheldFrom = (handovers: readonly Handover[]): string[] => [
  ...new Set(handovers.flatMap(({ withheld }) => withheld.map(plain))),
];

/** The name of who was handed something: hand-overs name agents by principal or by name. */
export function recipient(index: CaseIndex, { dialog, agent }: Handover): string {
  const found = index.dialog(dialog);
  const worker = found === undefined ? undefined : index.worker(found);
  return worker === undefined ? plain(agent) : index.label(worker);
}

export const groupings = ['each', 'agent', 'subtask'] as const;
export type Grouping = (typeof groupings)[number];

/** A hand-over, or several together; or what models of a Master used beside them. */
export interface SpendingRow {
  readonly key: string;
  readonly who: string;
  readonly what: string;
  /** Task to show the details of; the latest where there are several. */
  readonly task: string;
  readonly spent: Spending;
  readonly withheld: readonly string[];
}

/** What was spent, one by one or summed by agent or by subtask; what Masters used themselves comes last. */
export function spendingRows(index: CaseIndex, by: Grouping): SpendingRow[] {
  const keys: Readonly<Record<Grouping, (handover: Handover) => string>> = {
    each: ({ task }) => task,
    agent: (handover) => recipient(index, handover),
    subtask: ({ task }) => firstAttempt(index, task),
  };
  const groups = Map.groupBy(index.view.handovers, keys[by]);
  const rows = [...groups].map(([key, handovers]) => rowOf(index, key, handovers));
  return [...rows, ...ownRows(index)];
}

function rowOf(index: CaseIndex, key: string, handovers: readonly Handover[]): SpendingRow {
  const who = new Set(handovers.map((each) => recipient(index, each)));
  const what = new Set(handovers.map(({ task }) => index.label(task)));
  return {
    key,
    who: [...who].join(', '),
    what: [...what].join(', '),
    task: handovers.at(-1)?.task ?? '',
    spent: spendingOf(handovers),
    withheld: withheldFrom(handovers),
  };
}

const ownRows = (index: CaseIndex): SpendingRow[] =>
  (index.view.runs ?? []).map(({ run, usage }) => {
    const dialog = index.dialog(index.task(run)?.dialog ?? '');
    const master = dialog === undefined ? undefined : index.worker(dialog);
    return {
      key: `own ${run}`,
      who: master === undefined ? 'The Master itself' : `${index.label(master)}, itself`,
      what: 'planning and grading',
      task: run,
      spent: spendingOf([], usage),
      withheld: [],
    };
  });

/** The Task that the first attempt was made with: later ones replace it or go on from it. */
function firstAttempt(index: CaseIndex, id: string, seen: readonly string[] = []): string {
  const before = index
    .out(id)
    .find(
      ({ type, status, to }) =>
        status === 'active' &&
        (type === 'replaces' || type === 'continuation-of') &&
        index.handover(to) !== undefined,
    )?.to;
  return before === undefined || seen.includes(before)
    ? id
    : firstAttempt(index, before, [...seen, id]);
}
