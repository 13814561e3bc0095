import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readFlags } from '../../scripts/flags.ts';

const values = readFlags({ json: { type: 'boolean', default: false } });

const one = fileURLToPath(new URL('one.ts', import.meta.url));
const turns = 3;
/** The most that figures alone may cost, and spans beside them: shares of an assertion’s processor time. */
const bars = { figures: 1.1, 'figures and spans': 1.5 } as const;

/** Takes spans and throws them away. */
const collector = createServer((request, response) => {
  request.resume();
  request.once('end', () => response.end('{}'));
}).listen(0, '127.0.0.1');
await once(collector, 'listening');
const address = collector.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;

const surroundings = {
  nothing: { OTEL_SDK_DISABLED: 'true' },
  figures: {},
  'figures and spans': { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
} as const;
type Name = keyof typeof surroundings;
const names = ['nothing', 'figures', 'figures and spans'] as const satisfies readonly Name[];

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

console.error('Measuring what figures and spans cost; this takes about a minute.');
const times: Record<Name, number[]> = { nothing: [], figures: [], 'figures and spans': [] };
for (let turn = 0; turn < turns; turn++) {
  for (const name of names) {
    const env = { ...process.env, ...surroundings[name] };
    const { stdout } = await promisify(execFile)(process.execPath, [one], { env });
    times[name].push(Number(stdout));
  }
}
collector.close();

const beside = median(times.nothing);
const rows = (['figures', 'figures and spans'] as const).map((name) => {
  const ours = median(times[name]);
  const ratio = ours / beside;
  const besideWhat = 'without OpenTelemetry';
  const bar = bars[name];
  return {
    name,
    unit: 'µs of processor an assertion',
    ours,
    beside,
    besideWhat,
    ratio,
    bar,
    ok: ratio <= bar,
  };
});
const [first] = cpus();
const machine = { node: process.version, cpus: cpus().length, cpu: first?.model ?? 'unknown' };
const result = { suite: 'overhead', machine, rows };
const file = new URL('../results/overhead.json', import.meta.url);
mkdirSync(new URL('.', file), { recursive: true });
writeFileSync(file, `${JSON.stringify(result, undefined, 2)}\n`);

const number = (n: number): string => n.toLocaleString('en', { maximumSignificantDigits: 3 });
if (values.json) console.log(JSON.stringify(result, undefined, 2));
else {
  for (const { name, unit, ours, besideWhat, ratio, bar, ok } of rows) {
    console.log(`${ok ? 'ok  ' : 'MISS'} ${name}: ${number(ours)} ${unit}`);
    console.log(`     beside ${number(beside)} (${besideWhat}): ${number(ratio)} ×, bar ≤ ${bar}`);
  }
}
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
