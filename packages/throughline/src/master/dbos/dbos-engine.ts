import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DBOS as Dbos, DBOSConfig } from '@dbos-inc/dbos-sdk';
import { ThroughlineError } from '../../errors.ts';
import type { exclusively as Exclusively } from '../../store/postgres/exclusively.ts';
import type { DriveRun, RunEngine } from '../engine.ts';
import type { RunLeases } from '../ports.ts';

export interface DbosEngineOptions {
  /** `postgres://` URL. It may be the hubs' own database: what DBOS keeps lies in the schema `dbos`. */
  readonly databaseUrl: string;
  /** Where the runs are kept: the Master's ports of its hub. */
  readonly leases: RunLeases;
  /** Names the Master in that database: the same in all its processes, another one for each Master. */
  readonly name: string;
  /** Told of what DBOS could not do and tries again. */
  readonly onFault?: (error: unknown) => void;
}

/** Of what is carried, never of a build: a workflow is only gone on with under its own version. */
const applicationVersion = 'throughline-1';
/** Milliseconds in which DBOS must be ready. */
const launchMs = 30_000;
/** Milliseconds for what runs to end, once the engine is closed. */
const closeMs = 5_000;

const silent = (): void => undefined;

type Workflow = (runId: string) => Promise<void>;

/** DBOS is one for a process, and so is what its workflow calls. */
let registered: Workflow | undefined;
let serving:
  | { readonly drive: DriveRun; readonly asked: Map<string, { error?: unknown }> }
  | undefined;

/**
 * Carries runs as workflows of DBOS Transact: each is a row in PostgreSQL from before it is driven until
 * it stopped, with the tools of DBOS to see, cancel and resume it. What is gone on with when a process
 * dies is resumed under its own id, in whichever process takes it from DBOS's queue. Rows hold ids of
 * runs and codes of errors, and nothing of a case.
 *
 * @throws ThroughlineError `unsupported` where `@dbos-inc/dbos-sdk` or `pg` is not installed,
 *   `conflict` where DBOS runs in this process already, `unavailable` when its database can't be used.
 */
export async function dbosEngine(options: DbosEngineOptions): Promise<RunEngine> {
  const { DBOS, exclusively } = await installed();
  if (DBOS.isInitialized()) {
    throw new ThroughlineError(
      'conflict',
      'DBOS runs in this process already, and there is one for a process; serve each Master by a process of its own.',
    );
  }
  const process = randomUUID();
  const asked = new Map<string, { error?: unknown }>();
  const workflow = (registered ??= register(DBOS));
  await launch({ DBOS, exclusively }, options, process);
  return {
    process,
    leases: options.leases,
    serve(drive) {
      serving = { drive, asked };
    },
    async carry({ id, left }) {
      const workflowID = `${id}/${randomUUID()}`;
      const outcome: { error?: unknown } = {};
      asked.set(workflowID, outcome);
      try {
        const before = left === undefined ? undefined : await unfinished(DBOS, id);
        const handle =
          before === undefined
            ? await DBOS.startWorkflow(workflow, { workflowID })(id)
            : await DBOS.resumeWorkflow<void>(before);
        await handle.getResult();
      } catch (cause) {
        throw outcome.error ?? failed(cause);
      } finally {
        asked.delete(workflowID);
      }
    },
    async close() {
      serving = undefined;
      await DBOS.shutdown({ workflowCompletionTimeoutMS: closeMs });
    },
  };
}

/** What it takes, which need not be installed. */
async function installed(): Promise<{
  readonly DBOS: typeof Dbos;
  readonly exclusively: typeof Exclusively;
}> {
  try {
    const { DBOS } = await import('@dbos-inc/dbos-sdk');
    const { exclusively } = await import('../../store/postgres/exclusively.ts');
    return { DBOS, exclusively };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) {
      throw error;
    }
    throw new ThroughlineError(
      'unsupported',
      'Carrying runs with DBOS needs its package and a driver: npm install @dbos-inc/dbos-sdk pg',
      { cause: error },
    );
  }
}

/** One step, which the run's own journal makes safe to be repeated. */
function register(DBOS: typeof Dbos): Workflow {
  const drive = async (runId: string): Promise<void> => {
    const outcome = serving?.asked.get(DBOS.workflowID ?? '');
    try {
      await serving?.drive(runId);
    } catch (error) {
      if (outcome !== undefined) outcome.error = error;
      const code = error instanceof ThroughlineError ? error.code : 'internal';
      // Words of an error may be words of a case.
      throw new ThroughlineError(code, 'The run stopped where it was driven.');
    }
  };
  const run: Workflow = (runId) => DBOS.runStep(() => drive(runId), { name: 'drive' });
  return DBOS.registerWorkflow(run, { name: 'throughline.run' });
}

async function launch(
  { DBOS, exclusively }: Awaited<ReturnType<typeof installed>>,
  { databaseUrl, name, onFault = () => undefined }: DbosEngineOptions,
  executorID: string,
): Promise<void> {
  const config: DBOSConfig = {
    name,
    systemDatabaseUrl: databaseUrl,
    executorID,
    applicationVersion,
    logger: {
      info: silent,
      debug: silent,
      warn: silent,
      // What keeps it from being launched is thrown.
      error: (fault) => DBOS.isInitialized() && onFault(fault),
    },
  };
  DBOS.setConfig(config);
  // Processes that make its tables at the same time spoil them for each other.
  await exclusively(databaseUrl, 'throughline-dbos', async () => {
    const stop = new AbortController();
    const late = sleep(launchMs, undefined, { signal: stop.signal }).then(() => {
      throw new Error(`it was not ready within ${launchMs / 1_000} seconds`);
    });
    try {
      await Promise.race([DBOS.launch(), late]);
    } catch (error) {
      await DBOS.shutdown().catch(silent);
      throw failed(error);
    } finally {
      stop.abort();
      late.catch(silent);
    }
  });
}

/** Id of what a process that is gone left of a run. */
async function unfinished(DBOS: typeof Dbos, runId: string): Promise<string | undefined> {
  const [found] = await DBOS.listWorkflows({
    workflow_id_prefix: `${runId}/`,
    status: ['PENDING', 'ENQUEUED'],
    limit: 1,
    sortDesc: true,
  });
  return found?.workflowID;
}

/** What DBOS says of its database names it without the password; of that, the reason is enough. */
function failed(cause: unknown): ThroughlineError {
  const reason = reasonOf(cause);
  return new ThroughlineError(
    'unavailable',
    `DBOS can't use its database${reason === '' ? '' : `: ${reason}`}; check databaseUrl and the server.`,
    { retryable: true, cause },
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const inner = 'error' in error ? reasonOf(error.error) : '';
  return inner === '' ? error.message : inner;
}
