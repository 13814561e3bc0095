/** Kills hub, database and agents with SIGKILL while they work: `npm run bench -- chaos --kills 300`. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { readFlags } from '../../scripts/flags.ts';
import { runChaos, type ChaosReport } from './run.ts';

const values = readFlags({
  kills: { type: 'string', default: '300' },
  store: { type: 'string', default: 'both' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  callers: { type: 'string', default: '16' },
  save: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});
const stores = (['sqlite', 'postgres'] as const).filter((each) =>
  ['both', each].includes(values.store),
);
const whole = (name: 'kills' | 'seed' | 'callers'): number => {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 1) throw new RangeError(`--${name}: a whole number`);
  return number;
};
if (stores.length === 0) throw new RangeError('--store: sqlite, postgres or both');

const reports: ChaosReport[] = [];
for (const store of stores) {
  const kills = Math.ceil(whole('kills') / stores.length);
  const seed = whole('seed');
  console.error(
    `${store}: ${kills} kills, seed ${seed}; again with --store ${store} --seed ${seed}`,
  );
  let done = 0;
  const report = await runChaos({
    store,
    kills,
    seed,
    callers: whole('callers'),
    onKill: ({ target, open, seconds }) => {
      done += 1;
      console.error(`  ${done}/${kills} ${target}, ${open} open, up after ${seconds.toFixed(1)} s`);
    },
  });
  reports.push(report);
  if (!values.json) tell(report);
}
const [cpu] = cpus();
const machine = { node: process.version, cpus: cpus().length, cpu: cpu?.model ?? 'unknown' };
const result = {
  suite: 'chaos',
  machine,
  rows: reports.flatMap(rowsOf),
  runs: reports.map(({ folder: _where, ...run }) => run),
};
if (values.json) console.log(JSON.stringify(result, undefined, 2));
if (values.save) {
  const file = new URL('../results/chaos.json', import.meta.url);
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
}
process.exitCode = result.rows.every(({ ok }) => ok) ? 0 : 1;

function total(counts: Readonly<Record<string, number | undefined>>): number {
  return Object.values(counts).reduce<number>((sum, each) => sum + (each ?? 0), 0);
}

function rowsOf({ store, kills, amidWork, disagreements, acknowledged }: ChaosReport) {
  return [
    {
      name: `${store}: kills amid work`,
      unit: 'of the kills',
      ours: amidWork,
      beside: total(kills),
      besideWhat: 'kills',
      bar: 0.67,
      ok: amidWork >= 0.67,
    },
    {
      name: `${store}: what the outside ledger and the store disagree on`,
      unit: 'entries',
      ours: disagreements.length,
      beside: total(acknowledged),
      besideWhat: 'entries of the ledger',
      bar: 0,
      ok: disagreements.length === 0,
    },
  ];
}

function tell(report: ChaosReport): void {
  console.log(
    `${report.store}, seed ${report.seed}, ${report.callers} callers, ${report.seconds} s`,
  );
  console.log(`  killed        ${list(report.kills)}`);
  console.log(`  amid work     ${Math.round(100 * report.amidWork)} % of the kills, bar 67 %`);
  console.log(`  acknowledged  ${list(report.acknowledged)}`);
  console.log(`  taken up      ${report.resumed} times by another process`);
  console.log(`  disagree      ${report.disagreements.length}`);
  for (const each of report.disagreements.slice(0, 20)) console.log(`    ${each}`);
  if (report.folder !== undefined) console.log(`  all of it is in ${report.folder}`);
}

function list(counts: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
