import { rolesOf, type Role } from '../../graph/index.ts';
import type { CaseView } from '../../model/case-view.ts';
import type { StuckTask } from '../../model/task.ts';
import { spendingOf, type Spending } from '../../model/usage.ts';
import { facts, table } from '../table.ts';
import { clean, type Terminal } from '../terminal.ts';
import { drawLine } from './draw.ts';
import { spendingLines, spendingTable } from './spending.ts';
import { count, moment, type Words } from './words.ts';

const why: Readonly<Record<StuckTask['why'], string>> = {
  'outcome-unknown': 'nobody knows how it ended',
  interrupted: 'interrupted, and not resumed',
  'awaiting-input': 'waits for input',
  'awaiting-authorization': 'waits for an authorization',
  'nothing-awaited': 'waits for a result that nobody works on',
  'dialog-ended': 'its dialog is over',
  'not-reached': 'who is to do it could not be reached yet',
};

const roleWords: Readonly<Record<Role, string>> = {
  AIE: 'initiates',
  FNE: 'first next',
  AA: 'assists',
  AT: 'assists',
};

const order: readonly (Role | undefined)[] = ['AIE', 'FNE', 'AA', 'AT', undefined];
const rank = ([first]: readonly Role[]): number => order.indexOf(first);

/** What the case is called, whose it is, and how much is in it. */
export function caseHead({ terminal, view: { summary } }: Words): string[] {
  const { counts } = summary;
  const size = [
    ...(counts.activities > 1 ? [count(counts.activities, 'activity', 'activities')] : []),
    count(counts.dialogs, 'dialog'),
    count(counts.tasks, 'task'),
    count(counts.resources, 'resource'),
    count(counts.relationships, 'relationship'),
  ].join(', ');
  const title = terminal.paint('bold', `Case ${summary.contextId ?? summary.activity}`);
  const times = `${moment(summary.openedAt)}, last change ${moment(summary.updatedAt)}`;
  const labels = Object.entries(summary.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    `${title}  ${standing(summary)}`,
    ...facts(terminal, [
      ['about', shortened(terminal, summary.objective, 8)],
      ['owner', clean(summary.owner ?? '')],
      ['labels', clean(labels.join(', '))],
      ['opened', times],
      ['holds', size],
    ]),
  ];
}

const standing = ({ closed, erased }: CaseView['summary']): string => {
  if (erased === true) return 'erased: what people wrote in it is destroyed';
  return closed ? 'closed' : 'open';
};

/** Says what a reader must know of a case that is too large to be looked at as a whole. */
export function truncatedPart({ view: { truncated }, terminal }: Words): string[] {
  if (truncated !== true) return [];
  const text = 'Not all of it is shown: it holds too much; --timeline has the rest';
  return ['', terminal.paint('yellow', text)];
}

/** Tasks that don't go on, and why: what a reader looks for first. */
export function stuckPart(words: Words): string[] {
  const { stuck, graph, terminal } = words;
  if (stuck.length === 0) return [];
  const lines = stuck.map((each) => {
    const whose = each.whose.map((id) => words.participant(id)).join(', ');
    const step = whose === '' ? '' : `next: ${whose}`;
    const objective = clean(graph.task(each.task)?.objective ?? '');
    return drawLine(terminal, '  ', {
      whole: `${terminal.id(each.task)} ${why[each.why]}`,
      text: [step, objective].filter(Boolean).join(' · '),
    });
  });
  return [
    '',
    terminal.paint(['bold', 'yellow'], `Stuck: ${count(stuck.length, 'task')}`),
    ...lines,
  ];
}

/** What was said and not applied, since it would break a rule. */
export function conflictsPart({ view: { conflicts }, terminal }: Words): string[] {
  if (conflicts.length === 0) return [];
  const lines = conflicts.map(({ seq, rule, about, message }) =>
    drawLine(terminal, '  ', {
      whole: `#${seq} ${rule} ${terminal.id(about)}`,
      text: clean(message),
    }),
  );
  return [
    '',
    terminal.paint(['bold', 'red'], `Conflicts: ${conflicts.length}, kept and not applied`),
    ...lines,
  ];
}

/** The Activities from above: who began them, who takes part in which role, tokens handed over. */
export function activityPart(words: Words): string[] {
  const { view, graph, terminal } = words;
  return view.activities.flatMap((activity) => {
    const name = (id: string | undefined) =>
      id === undefined ? 'not known here' : words.participant(id);
    const tasks = view.tasks.filter((each) => each.activity === activity.id);
    const ids = new Set(tasks.map(({ id }) => id));
    const [sent, ...more] = spendingLines(spentIn(words, ids));
    const states = [...new Set(tasks.map(({ state }) => state))].map(
      (state) => `${tasks.filter((each) => each.state === state).length} ${state}`,
    );
    const rows = view.participants
      .map((each) => {
        const roles = rolesOf(graph, each.id).filter((role) => role.activity === activity.id);
        return { each, roles: roles.map(({ role }) => role) };
      })
      .toSorted((a, b) => rank(a.roles) - rank(b.roles))
      .map(({ each, roles }) => [
        clean(each.name ?? each.id),
        each.kind,
        roles.map((role) => `${role} (${roleWords[role]})`).join(', ') || '–',
        clean(each.url ?? ''),
      ]);
    const columns = [
      { title: 'WHO' },
      { title: 'KIND' },
      { title: 'ROLE' },
      { title: 'AT', flexible: true },
    ];
    return [
      '',
      `${terminal.paint('bold', 'Activity')} ${activity.id} ${activity.closed ? 'closed' : 'open'}`,
      ...facts(terminal, [
        ['about', shortened(terminal, activity.objective, 16)],
        ['initiator', name(activity.initiator)],
        ['first next', name(activity.firstNext)],
        ['initial dialog', activity.initialDialog],
        ['tasks', states.join(', ')],
        ['tokens', sent],
        ...more.map((line) => ['', line] as const),
      ]),
      '',
      ...table(terminal, columns, rows),
      ...spendingPart(words, ids),
    ];
  });
}

/** What the hand-overs of an Activity and the models of its Masters came to. */
function spentIn({ view: { handovers, runs = [] } }: Words, tasks: ReadonlySet<string>): Spending {
  return spendingOf(
    handovers.filter(({ task }) => tasks.has(task)),
    runs.filter(({ run }) => tasks.has(run)).flatMap(({ usage }) => usage),
  );
}

/** The same by agent. */
function spendingPart(words: Words, tasks: ReadonlySet<string>): string[] {
  const handovers = words.view.handovers.filter(({ task }) => tasks.has(task));
  const agents = [...new Set(handovers.map(({ agent }) => agent))];
  const rows = agents.map((agent) => {
    const own = handovers.filter((each) => each.agent === agent);
    return [agent, spendingOf(own)] as const;
  });
  return rows.length === 0 ? [] : ['', ...spendingTable(words.terminal, 'HANDED TO', rows)];
}

/** Text of people behind a label of that many columns. */
const shortened = (terminal: Terminal, text: string | undefined, label: number): string =>
  terminal.fit(clean(text ?? ''), (terminal.width ?? 0) - label);
