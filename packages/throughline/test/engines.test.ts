import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveAgent } from 'throughline/agent';
import { connectAgent } from 'throughline/cli';
import type { Principal } from 'throughline/model';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { HubClient } from '../src/client/index.ts';
import { openRequest } from '../src/cli/run/request-task.ts';
import { startPostgres, type TestServer } from '../src/store/postgres/conformance.ts';
import { repository } from './source.ts';

// Processes take their time to start on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const bin = join(repository, 'packages/throughline/bin/throughline.mjs');
const mortal = join(repository, 'packages/throughline/test/mortal-master.ts');
const soon = { timeout: 90_000, interval: 100 };

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** What carries runs, over which store: each has to do the same. */
const engines = [
  { name: 'the local engine, on SQLite', postgres: false, dbos: false },
  { name: 'the local engine, on PostgreSQL', postgres: true, dbos: false },
  { name: 'DBOS, on the hub’s own database', postgres: true, dbos: true },
];

/** Ends a process as a crash would. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const saidSchema = z.looseObject({ kind: z.string(), process: z.string().optional() });
type Said = z.infer<typeof saidSchema>;

/** A Master in a process of its own. */
class Master {
  readonly child: ChildProcess;
  readonly said: Said[] = [];

  constructor(env: Record<string, string>) {
    this.child = fork(mortal, { env: { ...process.env, ...env } });
    this.child.on('message', (raw) => this.said.push(saidSchema.parse(raw)));
  }

  of(kind: string): Said[] {
    return this.said.filter((each) => each.kind === kind);
  }

  async ready(): Promise<this> {
    await vi.waitFor(() => expect(this.of('ready')).toHaveLength(1), soon);
    return this;
  }

  kill(): Promise<void> {
    return kill(this.child);
  }
}

const ended = (master: Master, status = 'completed'): Promise<void> =>
  vi.waitFor(() => expect(master.of('ended')).toMatchObject([{ status }]), soon);

/** A subtask for the agent of the same name. */
const step = (id: string, after: string[]) => ({
  id,
  name: id,
  agent: id,
  dependsOn: after,
  needs: after,
  produces: [{ name: id, description: id, type: 'text' }],
  todo: [{ id: 'do', description: 'Do it' }],
  evaluation: 'relaxed',
});

describe.each(engines)('two processes of a Master with $name', ({ postgres, dbos }) => {
  let folder: string;
  let hub: { url: string; key: string };
  let database: string | undefined;
  let agents: string;
  const received: string[] = [];
  let free: () => void;
  const open: (() => Promise<void> | void)[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'engines-'));
    open.push(() => rmSync(folder, { recursive: true, force: true }));
    database = postgres ? await server.fresh() : undefined;
    const store = database === undefined ? [] : ['--store', database];
    const args = ['serve', '--port', '0', '--data', folder, '--json', ...store];
    const lease = ['--worker-lease', '3s'];
    const child = spawn(process.execPath, [bin, ...args, ...lease], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    open.push(() => kill(child));
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { url } = z.object({ url: z.url() }).parse(JSON.parse(String(line)));
    hub = { url, key: readFileSync(join(folder, 'local.key'), 'utf8').trim() };
    received.length = 0;
    const gate = Promise.withResolvers<void>();
    free = () => gate.resolve();
    const served = [await serve('quick'), await serve('slow', gate.promise)];
    agents = JSON.stringify(served);
  });
  afterEach(async () => {
    free();
    for (const close of open.splice(0).toReversed()) await close();
  });

  async function keyOf(id: string): Promise<string> {
    const operator = new HubClient(hub);
    const { tenant } = await operator.whoAmI();
    const principal: Principal = { tenant, id, role: 'agent' };
    return (await operator.createKey({ principal })).key;
  }

  /** An agent of this process, which outlives all Masters and notes what reaches it. */
  async function serve(id: string, gate?: Promise<void>) {
    const key = await keyOf(id);
    const { ports } = await connectAgent({ hubUrl: hub.url, key });
    const agent = await serveAgent({
      card: { name: id, description: id, version: '1.0.0' },
      ports,
      principal: await ports.authenticate(`Bearer ${key}`),
      handler: async (_context, io) => {
        received.push(id);
        await gate;
        await io.output(id, 'text/plain', `${id} is done`);
        await io.itemDone('do', 'It is done');
      },
    });
    open.push(() => agent.close());
    return { id, name: id, url: agent.url, behind: 'hub' };
  }

  async function masters(count: number): Promise<Master[]> {
    const env = { HUB: hub.url, KEY: await keyOf('desk'), AGENTS: agents };
    const own = dbos && database !== undefined ? { DATABASE: database } : {};
    const started = Array.from({ length: count }, () => new Master({ ...env, ...own }));
    for (const each of started) open.push(() => each.kill());
    return Promise.all(started.map((each) => each.ready()));
  }

  /** A request of a user, and the two steps that it takes. */
  async function request(): Promise<{ taskId: string; workflow: unknown }> {
    const desk = new HubClient({ url: hub.url, key: await keyOf('desk') });
    const caller = {
      principal: await new HubClient(hub).whoAmI(),
      credential: `Bearer ${hub.key}`,
    };
    const parties = { hub: desk, master: await desk.whoAmI(), caller };
    const { taskId } = await openRequest(parties, 'Add it up');
    const subtasks = [step('quick', []), step('slow', ['quick'])];
    return { taskId, workflow: { name: 'Two steps', subtasks } };
  }

  const at = (agent: string): number => received.filter((each) => each === agent).length;
  const atWork = (): Promise<void> => vi.waitFor(() => expect(at('slow')).toBe(1), soon);

  /** Nothing was done twice, nothing is open, and the graph has no conflict. */
  async function right(taskId: string): Promise<void> {
    const desk = new HubClient({ url: hub.url, key: await keyOf('desk') }).master();
    await vi.waitFor(async () => expect(await desk.openRuns()).toEqual([]), soon);
    expect([at('quick'), at('slow')]).toEqual([1, 1]);
    const view = await new HubClient(hub).caseView(taskId);
    expect(view.conflicts).toEqual([]);
    const states = view.tasks.map(({ objective, state }) => [objective, state]);
    expect(states.filter(([objective]) => objective !== 'Add it up')).toHaveLength(2);
    expect(states.filter(([, state]) => state === 'completed')).toHaveLength(2);
  }

  it('of which one is killed: the other goes on by itself, and does nothing twice', async () => {
    const [first, second] = await masters(2);
    if (first === undefined || second === undefined) throw new Error('two were started');
    const asked = await request();
    first.child.send(asked);
    await atWork();
    await first.kill();
    free();
    await right(asked.taskId);
    expect([...first.of('fault'), ...second.of('fault')]).toEqual([]);
  });

  it('of which one closes: the other goes on at once, and nothing keeps the first', async () => {
    const [first, second] = await masters(2);
    if (first === undefined || second === undefined) throw new Error('two were started');
    const asked = await request();
    first.child.send(asked);
    await atWork();
    const gone = once(first.child, 'exit');
    first.child.send('close');
    expect(await gone).toEqual([0, null]);
    free();
    await right(asked.taskId);
    expect(first.of('failed')).toHaveLength(1);
    expect(second.of('fault')).toEqual([]);
  });

  it('of which one stands still for too long: it gives way, and learns how the run ended', async () => {
    const [first, second] = await masters(2);
    if (first === undefined || second === undefined) throw new Error('two were started');
    const asked = await request();
    const desk = new HubClient({ url: hub.url, key: await keyOf('desk') }).master();
    const driver = async (): Promise<string | undefined> => {
      const [run = ''] = await desk.openRuns();
      return (await desk.loadRun(run))?.driver;
    };
    first.child.send(asked);
    await atWork();
    first.child.kill('SIGSTOP');
    const other = second.of('ready')[0]?.process;
    await vi.waitFor(async () => expect(await driver()).toBe(other), soon);
    first.child.kill('SIGCONT');
    await sleep(500);
    expect(await driver()).toBe(other);
    free();
    await ended(first);
    await right(asked.taskId);
    expect([...first.of('fault'), ...second.of('fault')]).toEqual([]);
  });

  it('that are asked for the same: one drives it, and both learn how it ended', async () => {
    const [first, second] = await masters(2);
    if (first === undefined || second === undefined) throw new Error('two were started');
    const asked = await request();
    first.child.send(asked);
    second.child.send(asked);
    await atWork();
    free();
    await Promise.all([ended(first), ended(second)]);
    await right(asked.taskId);
  });
});
