import { HubClient } from '../../client/index.ts';
import { ThroughlineError, type ErrorCode } from '../../errors.ts';
import { checkPlan, type Master, type OfferedContent, type Workflow } from '../../master/index.ts';
import { criteriaGrader } from '../../models/grade-criteria.ts';
import { agentKey } from '../agent-key.ts';
import { DataFolder } from '../data-folder.ts';
import { startHub } from '../wire.ts';
import type { AgentsFile } from './files.ts';
import { openMaster } from './open-master.ts';
import { openRequest, tellRequest, type Parties } from './request-task.ts';
import type { RunReport } from '../../model/run.ts';

/** Another command, which drives or steers the same run, said so first: it is looked at anew. */
const toldElsewhere: readonly ErrorCode[] = ['conflict', 'terminal'];
const tellTries = 3;

/** Principal id of whoever runs workflows from the command line. */
const runnerId = 'runner';

export interface RunnerOptions {
  /** The hub that was named; undefined: that of the folder, started where it is not up. */
  readonly hub: (() => { readonly url: string; readonly key: string }) | undefined;
  readonly data: string;
  /** Absent: for a command that steers a run which another one drives. */
  readonly agents: AgentsFile | undefined;
  readonly parallel: number | undefined;
  readonly onFault: (error: unknown) => void;
}

/** A Master with its hub and its agents, for one command. */
export class Runner {
  readonly master: Master;
  /** The hub ends with this command. */
  readonly ownsHub: boolean;
  readonly #parties: Parties;
  readonly #close: readonly (() => Promise<void>)[];
  readonly #known: readonly string[];

  /** Starts or finds the hub, and serves the agents that are files. */
  static async open(options: RunnerOptions): Promise<Runner> {
    const close: (() => Promise<void>)[] = [];
    try {
      const folder = new DataFolder(options.data);
      const hub = options.hub?.() ?? (await hubOfFolder(folder, close, options.onFault));
      const ownsHub = close.length > 0;
      const { key, principal } = await agentKey(hub, folder, runnerId);
      const client = new HubClient({ url: hub.url, key });
      const { agents: file, parallel, onFault } = options;
      const own = { ports: client.master(), a2a: client, principal };
      const opened = await openMaster({ ...own, hub, folder, agents: file, parallel, onFault });
      close.push(opened.close);
      const caller = {
        principal: await new HubClient(hub).whoAmI(),
        credential: `Bearer ${hub.key}`,
      };
      const parties = { hub: client, master: principal, caller };
      const known = opened.agents.map(({ id }) => id);
      return new Runner(opened.master, parties, { close, known, ownsHub });
    } catch (error) {
      await closeAll(close);
      throw error;
    }
  }

  private constructor(
    master: Master,
    parties: Parties,
    {
      close,
      known: ids,
      ownsHub,
    }: { close: readonly (() => Promise<void>)[]; known: readonly string[]; ownsHub: boolean },
  ) {
    this.master = master;
    this.ownsHub = ownsHub;
    this.#parties = parties;
    this.#close = close;
    this.#known = ids;
  }

  /**
   * Opens the task of a request, once its plan can run.
   *
   * @throws ThroughlineError `invalid` with everything that is wrong with the plan, by name.
   */
  async request(
    query: string,
    workflow: Workflow,
    offered: readonly OfferedContent[],
  ): Promise<string> {
    checkPlan(workflow, {
      agents: this.#known,
      offered: offered.map(({ name }) => name),
      checkGrader: criteriaGrader().check,
    });
    return (await openRequest(this.#parties, query)).taskId;
  }

  /** Says on the request's task how the run stands. */
  async tell(report: RunReport): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await tellRequest(this.#parties, report);
      } catch (error) {
        const isTold = error instanceof ThroughlineError && toldElsewhere.includes(error.code);
        if (!isTold || tries === tellTries) throw error;
      }
    }
  }

  /** Text of an output; undefined where it is something else. */
  async text(
    output: RunReport['subtasks'][number]['outputs'][number],
  ): Promise<string | undefined> {
    const { bytes, mediaType } = await this.#parties.hub.master().getContent(output.ref.uri);
    return mediaType.startsWith('text/') || mediaType === 'application/json'
      ? new TextDecoder().decode(bytes)
      : undefined;
  }

  close(): Promise<void> {
    return closeAll(this.#close);
  }
}

async function closeAll(close: readonly (() => Promise<void>)[]): Promise<void> {
  for (const each of close.toReversed()) await each();
}

/** The folder's hub, or one for the time of this command where it is not up: on its port, if that is free. */
async function hubOfFolder(
  folder: DataFolder,
  close: (() => Promise<void>)[],
  onFault: (error: unknown) => void,
): Promise<{ url: string; key: string }> {
  const before = folder.hubUrl();
  const kept = folder.localKey();
  if (before !== undefined && kept !== undefined && (await isUp(before))) {
    return { url: before, key: kept };
  }
  const onFailure = ({ error }: { error: unknown }): void => onFault(error);
  const start = (port: number) => startHub({ dataDir: folder.path, port, onFailure });
  const port = before === undefined ? 0 : Number(new URL(before).port);
  const running = await start(port).catch((error: unknown) => {
    if (port === 0 || !isTaken(error)) throw error;
    return start(0);
  });
  close.push(() => running.close());
  return { url: running.url, key: running.localKey };
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

async function isUp(url: string): Promise<boolean> {
  const answer = await fetch(new URL('/health', url), {
    signal: AbortSignal.timeout(2_000),
  }).catch(() => undefined);
  return answer?.ok === true;
}
