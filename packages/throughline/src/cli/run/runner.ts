import { HubClient } from '../../client/index.ts';
import { ThroughlineError } from '../../errors.ts';
import {
  checkPlan,
  createMaster,
  type KnownAgent,
  type Master,
  type OfferedContent,
  type Workflow,
} from '../../master/index.ts';
import { agentKey } from '../agent-key.ts';
import { loadAgentModule, serveModule } from '../agent-module.ts';
import { DataFolder, readPrivate } from '../data-folder.ts';
import { startHub } from '../wire.ts';
import { resolve } from 'node:path';
import type { AgentsFile } from './agents-file.ts';
import { openRequest, tellRequest, type Parties } from './request-task.ts';
import type { RunReport } from '../../model/run.ts';

/** Principal id of whoever runs workflows from the command line. */
const runnerId = 'runner';

export interface RunnerOptions {
  /** The hub that was named; undefined: that of the folder, started where it is not up. */
  readonly hub: (() => { readonly url: string; readonly key: string }) | undefined;
  readonly data: string;
  readonly agents: AgentsFile;
  readonly parallel: number | undefined;
  readonly onFault: (error: unknown) => void;
}

/** A Master with its hub and its agents, for one command. */
export class Runner {
  readonly master: Master;
  readonly #parties: Parties;
  readonly #close: readonly (() => Promise<void>)[];
  readonly #known: readonly string[];

  /** Starts or finds the hub, and serves the agents that are files. */
  static async open(options: RunnerOptions): Promise<Runner> {
    const close: (() => Promise<void>)[] = [];
    try {
      const folder = new DataFolder(options.data);
      const hub = options.hub?.() ?? (await hubOfFolder(folder, close, options.onFault));
      const { key, principal } = await agentKey(hub, folder, runnerId);
      const client = new HubClient({ url: hub.url, key });
      const agents: KnownAgent[] = [];
      for (const agent of options.agents.agents) {
        agents.push(await known(agent, { hub, folder, close, options }));
      }
      const { prices, limits } = options.agents;
      const master = createMaster({
        ports: client.master(),
        a2a: client,
        principal,
        name: runnerId,
        agents,
        prices,
        limits,
        onFault: options.onFault,
        ...(options.parallel !== undefined && { parallel: options.parallel }),
      });
      const caller = {
        principal: await new HubClient(hub).whoAmI(),
        credential: `Bearer ${hub.key}`,
      };
      const parties = { hub: client, master: principal, caller };
      return new Runner(master, parties, { close, known: agents.map(({ id }) => id) });
    } catch (error) {
      await closeAll(close);
      throw error;
    }
  }

  private constructor(
    master: Master,
    parties: Parties,
    { close, known: ids }: { close: readonly (() => Promise<void>)[]; known: readonly string[] },
  ) {
    this.master = master;
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
    checkPlan(workflow, { agents: this.#known, offered: offered.map(({ name }) => name) });
    return (await openRequest(this.#parties, query)).taskId;
  }

  /** Says on the request's task how the run stands. */
  tell(report: RunReport): Promise<void> {
    return tellRequest(this.#parties, report);
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

async function known(
  { id, name = id, description, url, module, behind, keyFile }: AgentsFile['agents'][number],
  {
    hub,
    folder,
    close,
    options,
  }: {
    hub: { url: string; key: string };
    folder: DataFolder;
    close: (() => Promise<void>)[];
    options: RunnerOptions;
  },
): Promise<KnownAgent> {
  const common = { id, name, ...(description !== undefined && { description }) };
  if (url !== undefined) {
    return {
      ...common,
      url,
      ...(behind === 'hub' && keyFile === undefined && { behind }),
      ...(keyFile !== undefined && {
        credential: `Bearer ${readPrivate(resolve(options.agents.folder, keyFile))}`,
      }),
    };
  }
  const loaded = await loadAgentModule(module ?? '', options.agents.folder);
  const own = await agentKey(hub, folder, id);
  if (own.principal.id !== id) {
    throw new ThroughlineError(
      'unauthenticated',
      `agent ${id}: to serve it from ${module ?? ''} takes an operator’s key, which can make it one of its own.`,
    );
  }
  const { onFault } = options;
  const served = await serveModule(loaded, { hubUrl: hub.url, ...own, onFault });
  close.push(() => served.close());
  return { ...common, url: served.url, behind: 'hub' };
}
