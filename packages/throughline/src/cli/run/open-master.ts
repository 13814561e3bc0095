import { resolve } from 'node:path';
import type { ForeignContent } from '../../agent/index.ts';
import { ThroughlineError } from '../../errors.ts';
import {
  createMaster,
  type KnownAgent,
  type Master,
  type MasterOptions,
} from '../../master/index.ts';
import { agentKey } from '../agent-key.ts';
import { loadAgentModule, serveModule } from '../agent-module.ts';
import { readPrivate, type DataFolder } from '../data-folder.ts';
import type { AgentsFile } from './files.ts';
import { openStores } from './stores.ts';

/** Milliseconds between two looks at what other commands decided about a run. */
const lookMs = 500;

export interface MasterGround extends Pick<
  MasterOptions,
  'ports' | 'a2a' | 'principal' | 'engine'
> {
  readonly hub: { readonly url: string; readonly key: string };
  readonly folder: DataFolder;
  /** Absent: it steers runs that others drive. */
  readonly agents: AgentsFile | undefined;
  readonly parallel?: number | undefined;
  readonly onFault: (error: unknown) => void;
}

export interface OpenedMaster {
  readonly master: Master;
  readonly agents: readonly KnownAgent[];
  /** Ends it, and the agents that it serves. */
  readonly close: () => Promise<void>;
}

/** A Master with the agents of a file; those that are files are served beside it. */
export async function openMaster(ground: MasterGround): Promise<OpenedMaster> {
  const { ports, a2a, principal, engine, agents: file, parallel, onFault } = ground;
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(closing.map((each) => each()));
  };
  try {
    const { stores, foreign } = file?.stores ? openStores(file.stores, file.folder) : {};
    const agents: KnownAgent[] = [];
    for (const agent of file?.agents ?? []) {
      agents.push(await known(agent, { ...ground, foreign }, closing));
    }
    const master = createMaster({
      ports,
      a2a,
      principal,
      name: principal.id,
      agents,
      lookMs,
      onFault,
      ...(engine && { engine }),
      ...(stores && { stores }),
      ...(file && { prices: file.prices, limits: file.limits }),
      ...(parallel !== undefined && { parallel }),
    });
    closing.unshift(() => master.close());
    return { master, agents, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function known(
  { id, name = id, description, url, module, behind, keyFile }: AgentsFile['agents'][number],
  { hub, folder, agents, onFault, foreign }: MasterGround & { foreign: ForeignContent | undefined },
  closing: (() => Promise<void>)[],
): Promise<KnownAgent> {
  const beside = agents?.folder ?? '.';
  const common = { id, name, ...(description !== undefined && { description }) };
  if (url !== undefined) {
    return {
      ...common,
      url,
      ...(behind === 'hub' && keyFile === undefined && { behind }),
      ...(keyFile !== undefined && {
        credential: `Bearer ${readPrivate(resolve(beside, keyFile))}`,
      }),
    };
  }
  const loaded = await loadAgentModule(module ?? '', beside);
  const own = await agentKey(hub, folder, id);
  if (own.principal.id !== id) {
    throw new ThroughlineError(
      'unauthenticated',
      `agent ${id}: to serve it from ${module ?? ''} takes an operator’s key, which can make it one of its own.`,
    );
  }
  const served = await serveModule(loaded, {
    hubUrl: hub.url,
    ...own,
    ...(foreign && { foreign }),
    // What its caller is told comes back as the reason of an attempt.
    onFault: (error) => {
      if (!(error instanceof ThroughlineError)) onFault(named(id, error));
    },
  });
  closing.push(() => served.close());
  return { ...common, url: served.url, behind: 'hub' };
}

const named = (id: string, error: unknown): Error =>
  new Error(
    `agent ${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
