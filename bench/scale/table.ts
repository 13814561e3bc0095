import type { Result } from './run.ts';

const number = (n: number): string => n.toLocaleString('en', { maximumSignificantDigits: 3 });
const whole = (n: number): string => Math.round(n).toLocaleString('en');

const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  [titles, titles.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** The result as Markdown, with how to repeat it. */
export function tableOf({ machine, filled, rows }: Result): string {
  const amounts = Object.entries(filled).map(([store, { assertions, recorded, perSecond }]) => [
    store,
    whole(assertions),
    whole(recorded),
    whole(perSecond),
  ]);
  const figures = rows.map(({ store, name, unit, ours, beside, besideWhat, ratio, bar, ok }) => [
    store,
    name,
    `${number(ours)} ${unit}`,
    `${number(beside)} (${besideWhat})`,
    `${number(ratio)} ×`,
    bar === undefined ? '' : `${ok ? 'ok' : 'MISS'}, ≤ ${bar}`,
  ]);
  return `# Scale

\`npm run bench -- scale\` fills a hub on SQLite through its own methods (a message, its task, hand-overs to other agents and back; one case in 500 is large), copies it to PostgreSQL, records more there through a hub, and asks both what people ask, in turns with a hub of ten thousand assertions. \`--size N\` for fewer, \`--folder F\` to go on another time where it stopped.

${machine.node}, ${machine.cpus} × ${machine.cpu}

${table(['store', 'assertions', 'of them recorded in this run', 'a second'], amounts)}

${table(['store', 'figure', 'there', 'beside', 'ratio', 'bar'], figures)}
`;
}
