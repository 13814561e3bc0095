import { mkdirSync, writeFileSync } from 'node:fs';
import { readFlags } from '../../scripts/flags.ts';
import { kinds, run, type Kind, type Row } from './run.ts';
import { tableOf } from './table.ts';

const full = 1_000_000;

const values = readFlags({
  json: { type: 'boolean', default: false },
  size: { type: 'string', default: String(full) },
  store: { type: 'string', multiple: true, default: [...kinds] },
  through: { type: 'string', default: '20000' },
  reads: { type: 'string', default: '1000' },
  folder: { type: 'string' },
});

function count(name: 'size' | 'through' | 'reads', least: number): number {
  const given = Number(values[name]);
  if (Number.isInteger(given) && given >= least) return given;
  throw new RangeError(`--${name} ${values[name]}: give a whole number of ${least} or more`);
}
const isKind = (name: string): name is Kind => kinds.some((kind) => kind === name);
const stores = values.store.filter(isKind);
if (stores.length < values.store.length) {
  throw new RangeError(`--store ${values.store.join(', ')}: there is ${kinds.join(', ')}`);
}
const size = count('size', 20_000);

const number = (n: number): string => n.toLocaleString('en', { maximumSignificantDigits: 3 });
const line = ({ store, name, unit, ours, beside, besideWhat, ratio, bar, ok }: Row): string => {
  const state = bar === undefined ? '    ' : ok ? 'ok  ' : 'MISS';
  const asked = bar === undefined ? '' : `, bar ≤ ${bar}`;
  return `${state} ${store}: ${name}: ${number(ours)} ${unit}\n     beside ${number(beside)} (${besideWhat}): ${number(ratio)} ×${asked}`;
};

console.error(
  'Recording through a hub; a million assertions take a quarter of an hour of processor.',
);
const result = await run({
  size,
  stores,
  through: count('through', 1_000),
  reads: count('reads', 20),
  folder: values.folder,
  tell: (text) => console.error(text),
});
// What is of one store is a try.
if (stores.length === kinds.length) {
  const place = new URL('../results/', import.meta.url);
  mkdirSync(place, { recursive: true });
  writeFileSync(new URL('scale.json', place), `${JSON.stringify(result, undefined, 2)}\n`);
  writeFileSync(new URL('scale.md', place), tableOf(result));
}
console.log(values.json ? JSON.stringify(result, undefined, 2) : result.rows.map(line).join('\n'));
process.exitCode = result.rows.every(({ ok }) => ok) ? 0 : 1;
