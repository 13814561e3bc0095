import {
  describeCompressed,
  describeCost,
  describeModels,
  describeSent,
} from '../../model/describe-usage.ts';
import type { Spending } from '../../model/usage.ts';
import { table } from '../table.ts';
import { clean, type Terminal } from '../terminal.ts';
import { count } from './words.ts';

const figure = (n: number): string => n.toLocaleString('en');

/** What hand-overs and models came to, a sentence a line. */
export function spendingLines(spent: Spending): string[] {
  const { handovers, returned, compressed } = spent;
  const models = describeModels(spent);
  const sent =
    handovers === 0
      ? []
      : [
          `${count(handovers, 'hand-over')}: ${describeSent(spent)}`,
          ...(returned === 0 ? [] : [`${count(returned, 'token')} returned`]),
          ...(compressed === undefined ? [] : [describeCompressed(compressed)]),
        ];
  return [...sent, ...(models === undefined ? [] : [models])];
}

/** The same of several, a row each. */
export function spendingTable(
  terminal: Terminal,
  title: string,
  rows: readonly (readonly [name: string, spent: Spending])[],
): string[] {
  const compresses = rows.some(([, { compressed }]) => compressed !== undefined);
  const right = { align: 'right' } as const;
  const columns = [
    { title },
    { title: 'SENT', ...right },
    { title: 'FULL HISTORY', ...right },
    { title: 'RETURNED', ...right },
    ...(compresses ? [{ title: 'COMPRESSED', ...right, optional: true }] : []),
    { title: 'MODELS', ...right },
    { title: 'COST', ...right },
  ];
  const cells = rows.map(([name, spent]) => {
    const { sent, fullHistory, returned, compressed, inputTokens, outputTokens } = spent;
    const left = compressed && `${figure(compressed.before)} → ${figure(compressed.after)}`;
    const models = inputTokens + outputTokens;
    return [
      terminal.fit(clean(name), 24),
      figure(sent),
      figure(fullHistory),
      figure(returned),
      ...(compresses ? [left ?? '–'] : []),
      models === 0 ? '–' : figure(models),
      describeCost(spent),
    ];
  });
  return table(terminal, columns, cells);
}
