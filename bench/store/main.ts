import { readFlags } from '../../scripts/flags.ts';
import { run } from './run.ts';

const values = readFlags({ json: { type: 'boolean', default: false } });

const number = (n: number): string => n.toLocaleString('en', { maximumSignificantDigits: 3 });

console.error('Measuring the stores; this takes about two minutes.');
const result = await run();

if (values.json) {
  console.log(JSON.stringify(result, undefined, 2));
} else {
  for (const { name, unit, ours, beside, besideWhat, ratio, bar, ok } of result.rows) {
    console.log(`${ok ? 'ok  ' : 'MISS'} ${name}: ${number(ours)} ${unit}`);
    console.log(`     beside ${number(beside)} (${besideWhat}): ${number(ratio)} ×, bar ${bar}`);
  }
}
process.exitCode = result.rows.every(({ ok }) => ok) ? 0 : 1;
