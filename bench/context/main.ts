import { mkdirSync, writeFileSync } from 'node:fs';
import { readFlags } from '../../scripts/flags.ts';
import { installPeers } from './peers.ts';
import type { Row } from './row.ts';
import { run } from './run.ts';

const values = readFlags({
  json: { type: 'boolean', default: false },
  'without-peers': { type: 'boolean', default: false },
});

const number = (n: number): string => n.toLocaleString('en', { maximumFractionDigits: 3 });

const shown = ({ name, unit, ours, beside, besideWhat, ratio, spread, bar, ok }: Row): string => {
  const state = bar === undefined ? '    ' : ok ? 'ok  ' : 'MISS';
  const asked = bar === undefined ? '' : `, bar ≥ ${number(bar)}`;
  const more = Object.entries(spread).map(([what, value]) => `${what} ${number(value)}`);
  return [
    `${state} ${name}: ${number(ours)} ${unit}${asked}${ok ? '' : `, ${number((bar ?? 0) - ours)} short`}`,
    `     beside ${number(beside)} (${besideWhat})${ratio === undefined ? '' : `: ${number(ratio)} ×`}`,
    ...(more.length > 0 ? [`     ${more.join(', ')}`] : []),
  ].join('\n');
};

const frameworks = values['without-peers'] ? [] : installPeers();
console.error('Measuring compression; this takes some minutes.');
const result = await run(frameworks);
const file = new URL('../results/context.json', import.meta.url);
mkdirSync(new URL('.', file), { recursive: true });
writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);

console.log(values.json ? JSON.stringify(result, undefined, 2) : result.rows.map(shown).join('\n'));
process.exitCode = result.rows.every(({ ok }) => ok) ? 0 : 1;
