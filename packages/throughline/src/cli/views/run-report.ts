import type { RunReport } from '../../model/run.ts';
import { table } from '../table.ts';
import { clean, cleanLine, type Terminal } from '../terminal.ts';
import { spendingLines, spendingTable } from './spending.ts';

/** Characters of one output that are shown; the rest is in the hub. */
const shownOfText = 4_000;

const colours: Partial<Record<RunReport['status'], 'green' | 'red'>> = {
  completed: 'green',
  failed: 'red',
  cancelled: 'red',
};

interface Shown {
  readonly terminal: Terminal;
  /** The command that shows a case. */
  readonly showCase: (id: string) => string;
}

/** How a run ended, or where it stands, for people. */
export function reportLines(
  report: RunReport,
  texts: readonly (readonly [name: string, text: string])[],
  { terminal, showCase }: Shown,
): string[] {
  const { paint, fit, width = Infinity } = terminal;
  const { status, reason, questions, subtasks } = report;
  const colour = colours[status] ?? 'yellow';
  const because = reason === undefined ? '' : `: ${clean(reason)}`;
  return [
    `${paint(['bold', colour], status)}${because}`,
    ...subtasks.flatMap(({ id, status: stands, attempts, verdict }) => {
      const last = attempts.at(-1);
      const why = last?.reason ?? verdict?.reasons.join('; ');
      const isBad = !['completed', 'waiting', 'running'].includes(stands);
      return isBad ? [fit(`  ${id} ${stands}${why ? `: ${clean(why)}` : ''}`, width)] : [];
    }),
    ...questions.map(({ subtask, text }) => `  ${subtask ?? 'the Master'} asks: ${clean(text)}`),
    ...texts.flatMap(([name, text]) => [
      '',
      paint('bold', clean(name)),
      ...text
        .slice(0, shownOfText)
        .split(/\r?\n/)
        .map((line) => cleanLine(line)),
      ...(text.length > shownOfText ? [paint('dim', `… ${text.length} characters in all`)] : []),
    ]),
    '',
    ...spendingPart(terminal, report),
    paint('dim', `The case: ${showCase(report.activity)}`),
  ];
}

/** How a run stands now, with each of its subtasks. */
export function standLines(report: RunReport, { terminal, showCase }: Shown): string[] {
  const { paint } = terminal;
  const { status, reason, questions, subtasks, runId, activity } = report;
  const because = reason === undefined ? '' : `: ${clean(reason)}`;
  const rows = subtasks.map(({ id, status: stands, attempts }) => {
    const { agent = '', reason: why, notReached } = attempts.at(-1) ?? {};
    return [id, stands, agent, clean(notReached?.reason ?? why ?? '')];
  });
  const columns = [
    { title: 'subtask' },
    { title: 'stands' },
    { title: 'agent' },
    { title: 'why', flexible: true },
  ];
  return [
    `${paint(['bold', colours[status] ?? 'yellow'], status)}${because}`,
    paint('dim', runId),
    ...table(terminal, columns, rows),
    ...questions.map(({ subtask, text }) => `${subtask ?? 'the Master'} asks: ${clean(text)}`),
    '',
    ...spendingPart(terminal, report),
    paint('dim', `The case: ${showCase(activity)}`),
  ];
}

export interface OpenRun {
  readonly runId: string;
  readonly status: string;
  readonly name: string;
  /** Why it does not go on by itself. */
  readonly reason?: string;
}

/** Runs that are not over, a line each. */
export function openRunLines(
  runs: readonly OpenRun[],
  total: number,
  terminal: Terminal,
): string[] {
  if (total === 0) return ['No run is open.'];
  const columns = [{ title: 'run' }, { title: 'stands' }, { title: 'workflow', flexible: true }];
  const cells = runs.map(({ runId, status, name }) => [runId, status, clean(name)]);
  const [titles = '', ...rows] = table(terminal, columns, cells);
  const { fit, width = Infinity } = terminal;
  return [
    titles,
    ...rows.flatMap((row, at) => {
      const reason = runs[at]?.reason;
      return reason === undefined ? [row] : [row, fit(`  left: ${clean(reason)}`, width)];
    }),
    ...(total > runs.length ? [`… ${total - runs.length} more`] : []),
  ];
}

/** What it cost: in all, and by subtask where there are several. */
function spendingPart(terminal: Terminal, { spent, subtasks }: RunReport): string[] {
  const rows = subtasks
    .filter((each) => each.spent.handovers > 0)
    .map(({ id, spent: own }) => [id, own] as const);
  return [
    ...spendingLines(spent),
    ...(rows.length > 1 ? ['', ...spendingTable(terminal, 'SUBTASK', rows), ''] : []),
  ];
}
