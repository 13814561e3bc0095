import type { RunReport } from '../../model/run.ts';
import { clean, cleanLine, type Terminal } from '../terminal.ts';
import { count } from './words.ts';

/** Characters of one output that are shown; the rest is in the hub. */
const shownOfText = 4_000;

const colours: Partial<Record<RunReport['status'], 'green' | 'red'>> = {
  completed: 'green',
  failed: 'red',
  cancelled: 'red',
};

/** How a run ended, or where it stands, for people. */
export function reportLines(
  report: RunReport,
  texts: readonly (readonly [name: string, text: string])[],
  { paint, fit, width = Infinity }: Terminal,
): string[] {
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
    tokenLine(report),
    paint('dim', `The case: throughline case show ${report.activity}`),
  ];
}

function tokenLine({ tokens, usage, subtasks }: RunReport): string {
  const { handedOver, fullHistory } = tokens;
  const share = fullHistory === 0 ? 0 : Math.round((100 * handedOver) / fullHistory);
  const handovers = subtasks.flatMap(({ attempts }) => attempts).filter((each) => each.tokens);
  const used = usage.inputTokens + usage.outputTokens;
  const money = usage.money === undefined ? '' : `, ${usage.money.toFixed(4)} in money`;
  return [
    `${count(handedOver, 'token')} handed over in ${count(handovers.length, 'hand-over')}`,
    `${share} % of the full history’s ${fullHistory.toLocaleString('en')}`,
    ...(used === 0 ? [] : [`models used ${used.toLocaleString('en')}${money}`]),
  ].join('; ');
}
