import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import { startPostgres, type TestServer } from '../../store/postgres/conformance.ts';
import type { DriveRun, RunEngine } from '../engine.ts';
import { dbosEngine } from './dbos-engine.ts';

let server: TestServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
  url = await server.fresh();
});
afterAll(() => server.stop());

const open: RunEngine[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});

const leases = {
  beat: () => Promise.resolve({ seconds: 15, due: false }),
  leave: () => Promise.resolve(),
  leftRuns: () => Promise.resolve([]),
};

async function serving(drive: DriveRun): Promise<RunEngine> {
  const engine = await dbosEngine({ databaseUrl: url, leases, name: 'desk' });
  open.push(engine);
  engine.serve(drive);
  return engine;
}

const rows = (runId: string): Promise<Record<string, unknown>[]> =>
  server.sql(
    `select * from dbos.workflow_status where workflow_uuid like '${runId}/%' order by created_at`,
    url,
  );

/** All that DBOS keeps. */
async function everything(): Promise<string> {
  const tables = await server.sql(`select tablename from pg_tables where schemaname = 'dbos'`, url);
  const texts = tables.map(({ tablename }) =>
    server.sql(`select to_jsonb(t) from dbos."${String(tablename)}" t`, url),
  );
  return JSON.stringify(await Promise.all(texts));
}

const thrown = async (call: Promise<unknown>): Promise<ThroughlineError> => {
  const error: unknown = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (error instanceof ThroughlineError) return error;
  throw new Error(`no error of ours: ${String(error)}`);
};

describe('runs carried by DBOS', () => {
  it('are a row each from before they are driven until they stop', async () => {
    const seen: unknown[] = [];
    const engine = await serving(async (runId) => {
      const [row] = await rows(runId);
      seen.push(runId, row?.['status'], row?.['executor_id']);
    });
    await engine.carry({ id: 'run-1' });
    expect(seen).toEqual(['run-1', 'PENDING', engine.process]);
    expect(await rows('run-1')).toMatchObject([{ status: 'SUCCESS' }]);
    await engine.carry({ id: 'run-1' });
    expect(await rows('run-1')).toHaveLength(2);
  });

  it('throw what driving them threw, of which DBOS is told nothing but the code', async () => {
    const refused = new ThroughlineError('invalid', 'Priya owes 40 euros.');
    const engine = await serving(() => Promise.reject(refused));
    expect(await thrown(engine.carry({ id: 'run-2' }))).toBe(refused);
    expect(await rows('run-2')).toMatchObject([{ status: 'ERROR' }]);
    const kept = await everything();
    expect(kept).toContain('The run stopped where it was driven.');
    expect(kept).not.toContain('Priya');
  });

  it('go on under their own name after a process that is gone', async () => {
    const never = Promise.withResolvers<void>();
    const first = await serving(() => never.promise);
    const stuck = first.carry({ id: 'run-3' });
    stuck.catch(() => undefined);
    const [before] = await waitFor(() => rows('run-3'));
    const driven: string[] = [];
    first.serve((runId) => {
      driven.push(runId);
      return Promise.resolve();
    });
    // The first call is as good as dead: it never ends, as that of a process which was killed.
    await first.carry({ id: 'run-3', left: first.process });
    expect(driven).toEqual(['run-3']);
    const after = await rows('run-3');
    expect(after).toMatchObject([{ workflow_uuid: before?.['workflow_uuid'], status: 'SUCCESS' }]);
    never.resolve();
    await stuck;
  });

  it('are carried on a database that many processes come to for the first time', async () => {
    const fresh = await server.fresh();
    const launch = `
      const { dbosEngine } = await import(${JSON.stringify(import.meta.resolve('./dbos-engine.ts'))});
      const engine = await dbosEngine({ databaseUrl: process.argv[1], leases: {}, name: 'desk' });
      await engine.close();`;
    const args = ['--input-type=module', '--eval', launch, fresh];
    const processes = [1, 2, 3].map(() => promisify(execFile)(process.execPath, args));
    await expect(Promise.all(processes)).resolves.toHaveLength(3);
  });

  it('are carried by one engine a process', async () => {
    await serving(() => Promise.resolve());
    const error = await thrown(dbosEngine({ databaseUrl: url, leases, name: 'other' }));
    expect(error.code).toBe('conflict');
  });
});

describe('a database that DBOS can’t use', () => {
  const wrong: [what: string, change: (url: URL) => void, reason: string][] = [
    ['refuses the password', (to) => (to.password = 'hunter2'), 'refuses the user or the password'],
    ['is not there', (to) => ((to.port = '1'), (to.password = 'hunter2')), 'out of reach'],
  ];
  it.each(wrong)(
    'is said to be so when it %s, and no password with it',
    async (_what, change, reason) => {
      const to = new URL(url);
      change(to);
      const error = await thrown(dbosEngine({ databaseUrl: to.href, leases, name: 'desk' }));
      expect(error).toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(reason),
      });
      const told = [error, error.cause].map((each) => `${String(each)} ${JSON.stringify(each)}`);
      expect(told.join(' ')).not.toContain('hunter2');
      // Another try with the right one is not in its way.
      await serving(() => Promise.resolve());
    },
  );
});

async function waitFor<T>(look: () => Promise<readonly T[]>): Promise<readonly T[]> {
  for (let tries = 0; tries < 100; tries++) {
    const found = await look();
    if (found.length > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('nothing came');
}
