/** One process: fills a hub, and tells how much processor time an assertion took once it was warm. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTelemetry } from 'throughline/cli';
import { Hub } from 'throughline/hub';
import { openSqliteStore } from 'throughline/store';
import { Workload } from '../scale/workload.ts';

const [warmUp, measured] = [20, 60];

const folder = mkdtempSync(join(tmpdir(), 'bench-overhead-'));
const { flush } = await startTelemetry('bench');
const hub = await Hub.open({
  store: await openSqliteStore({ path: join(folder, 'hub.db') }),
  domainKey: new Uint8Array(32).fill(7),
  origin: 'https://hub.example',
});
const workload = new Workload(hub);
for (let n = 0; n < warmUp; n++) await workload.makeCase();
const { seq: before } = await hub.health();
const cpu = process.cpuUsage();
for (let n = 0; n < measured; n++) await workload.makeCase();
const { user, system } = process.cpuUsage(cpu);
const { seq } = await hub.health();
await hub.close();
await flush();
rmSync(folder, { recursive: true });
console.log((user + system) / (seq - before));
