/** Kills Masters, agents and hubs of the examples with SIGKILL: `npm run bench -- examples-chaos --kills 300`. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { readFlags } from '../../scripts/flags.ts';
import { faultNames } from './faults.ts';
import { killsOf, runExamplesChaos, type Report } from './run.ts';
import { stageNames } from './stages.ts';

const values = readFlags({
  kills: { type: 'string', default: '300' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  only: { type: 'string' },
  minutes: { type: 'string', default: '60' },
  'at-once': { type: 'string', default: '2' },
  save: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});
const whole = (name: 'kills' | 'seed' | 'minutes' | 'at-once'): number => {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 1) throw new RangeError(`--${name}: a whole number`);
  return number;
};
const names = stageNames.filter((each) => values.only === undefined || values.only === each);
if (names.length === 0) throw new RangeError(`--only: one of ${stageNames.join(', ')}`);
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The first ends the killing and tells how it went so far.
  process.on(signal, () => (stop.signal.aborted ? process.exit(1) : stop.abort()));
}

console.error(
  `${whole('kills')} kills over ${names.join(', ')}; again with --seed ${whole('seed')}`,
);
let done = 0;
const reports = await runExamplesChaos({
  names,
  kills: whole('kills'),
  seed: whole('seed'),
  signal: AbortSignal.any([stop.signal, AbortSignal.timeout(whole('minutes') * 60_000)]),
  atOnce: whole('at-once'),
  onKill: (name, { role, name: victim, atWork, after, tookMs }) => {
    done += 1;
    const who = role === victim ? role : `${role} ${victim}`;
    const what = atWork ? 'at work' : 'idle';
    console.error(`  ${done} ${name}: ${who}, ${what}, ${after} ms in, took ${tookMs} ms`);
  },
});
if (!values.json) for (const report of reports) tell(report);
const [cpu] = cpus();
const machine = { node: process.version, cpus: cpus().length, cpu: cpu?.model ?? 'unknown' };
const runs = reports.map(({ folder: _where, ...run }) => run);
const result = { suite: 'examples-chaos', machine, rows: reports.flatMap(rowsOf), runs };
if (values.json) console.log(JSON.stringify(result, undefined, 2));
if (values.save) {
  const file = new URL('../results/examples-chaos.json', import.meta.url);
  writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);
}
process.exitCode = result.rows.every(({ ok }) => ok) ? 0 : 1;

function rowsOf(report: Report) {
  const { name, runs: played, amidWork, faults } = report;
  const all = killsOf(report);
  const amid = amidWork / Math.max(1, all);
  const meaning = {
    repeated: 'finished attempts made again',
    doubled: 'tasks beyond those of an undisturbed run',
    open: 'tasks and runs without an end',
    different: 'what came out otherwise than undisturbed',
  };
  return [
    {
      name: `${name}: kills amid work`,
      unit: 'of the kills',
      ours: amid,
      beside: all,
      besideWhat: 'kills',
      bar: 0.67,
      ok: amid >= 0.67,
    },
    ...faultNames.map((fault) => ({
      name: `${name}: ${meaning[fault]}`,
      unit: 'cases',
      ours: faults[fault].length,
      beside: played,
      besideWhat: 'runs',
      bar: 0,
      ok: faults[fault].length === 0,
    })),
  ];
}

function tell(report: Report): void {
  const { name, seed, runs: played, seconds, kills } = report;
  const all = Object.entries(kills).map(([role, count]) => `${count} ${role}`);
  console.log(`${name}, seed ${seed}: ${played} runs, ${seconds} s`);
  console.log(
    `  killed      ${all.join(', ')}; ${report.amidWork} of ${killsOf(report)} amid work`,
  );
  if (report.anew > 0) console.log(`  made anew   ${report.anew}, by agents that know no hub`);
  for (const fault of faultNames) {
    const found = report.faults[fault];
    console.log(`  ${fault.padEnd(11)} ${found.length}`);
    for (const each of found.slice(0, 20)) console.log(`    ${each}`);
  }
  if (report.folder !== undefined) console.log(`  all of it is in ${report.folder}`);
}
