import type { AgentPorts } from '../agent/ports.ts';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import type { Push } from '../bindings/a2a/push-sender.ts';
import { HubClient } from '../client/index.ts';
import { ThroughlineError } from '../errors.ts';
import { Hub, type HubTerms, type WorkerTerms } from '../hub/index.ts';
import type { MasterPorts, RunLeases } from '../master/ports.ts';
import type { Principal } from '../model/principal.ts';
import type { Quotas } from '../model/quota.ts';
import type { Swept, Terms } from '../model/terms.ts';
import { serveHub, type Answered, type Failure, type Mount } from '../server/index.ts';
import { currentTrace } from '../telemetry/trace.ts';
import { createOutbound, type OutboundOptions } from '../transports/index.ts';
import { DataFolder } from './data-folder.ts';
import { jwtOptions, type JwtSettings } from './jwt-keys.ts';
import { serveMetrics } from './telemetry/serve-metrics.ts';
import { openContent, type ContentSettings } from './open-content.ts';
import { isShared, openStore } from './open-store.ts';
import { pageFolder } from './page-folder.ts';
import { startSweeping } from './sweeping.ts';
import { sendsSpans, startTelemetry } from './telemetry/telemetry.ts';

export interface OpenHubOptions extends Partial<HubTerms> {
  /** Folder for the database and the keys; made where missing. */
  readonly dataDir: string;
  /** Path of a SQLite file, or a `postgres://` URL. Default: `hub.sqlite` in the folder. */
  readonly store?: string;
  /** File with the domain key. Default: `domain.key` in the folder. */
  readonly domainKeyFile?: string;
  /** The hub's URL origin; ContextURIs begin with it. */
  readonly origin: string;
  /** Whose tokens are taken beside the hub's own keys. */
  readonly jwt?: JwtSettings;
  /** Limits of tenants for which no operator set others. */
  readonly quotas?: Partial<Quotas>;
  /** Milliseconds that whoever took something up has before others may. Default: 30 s. */
  readonly leaseMs?: number;
  /** Where offloaded content is kept. Default: in the folder, or in a database elsewhere. */
  readonly content?: ContentSettings;
  /** When a process of an agent counts as gone, and its tasks as unresolved. */
  readonly workers?: Partial<WorkerTerms>;
}

/** Who the key in the data folder belongs to. */
export const localPrincipal: Principal = { tenant: 'local', id: 'local', role: 'operator' };

/**
 * Opens a hub on the files of a folder. Closing it closes its store. Throws `unsupported` for a store
 * of another kind, and what the store says of a damaged or newer one.
 */
export async function openHub(options: OpenHubOptions): Promise<Hub> {
  const folder = new DataFolder(options.dataDir);
  folder.create();
  const { store, domainKey } = await openStore(folder, options.store, options.domainKeyFile);
  try {
    const { origin, jwt, quotas, workers, leaseMs } = options;
    const content = await openContent(folder, options.content ?? {}, isShared(options.store));
    return await Hub.open({
      ...termsIn(options),
      store,
      domainKey,
      origin,
      content,
      seat: folder.seat,
      ...(jwt === undefined ? {} : { jwt: jwtOptions(jwt) }),
      ...(quotas === undefined ? {} : { quotas }),
      ...(workers === undefined ? {} : { workers }),
      ...(leaseMs === undefined ? {} : { leaseMs }),
    });
  } catch (error) {
    await store.close();
    throw error;
  }
}

const termsIn = (options: Partial<HubTerms>): Partial<HubTerms> => {
  const { contextPolicy, contextTtlMs, taskTtlMs, historyTtlMs } = options;
  return {
    ...(contextPolicy === undefined ? {} : { contextPolicy }),
    ...(contextTtlMs === undefined ? {} : { contextTtlMs }),
    ...(taskTtlMs === undefined ? {} : { taskTtlMs }),
    ...(historyTtlMs === undefined ? {} : { historyTtlMs }),
  };
};

export interface StartHubOptions extends Omit<OpenHubOptions, 'origin'> {
  /** 0: any free one. */
  readonly port: number;
  readonly host?: string;
  /** Where it is reached from outside. Default: the address it listens on. */
  readonly origin?: string;
  readonly allowPlainHttp?: boolean;
  /** A2A agents that live in the hub's process, by name, served under `/agents/{name}`. */
  readonly mounts?: (hub: Hub, origin: string) => Readonly<Record<string, Mount>>;
  /** Folder of the built page. Default: the package’s own, where it is built. */
  readonly page?: string;
  readonly onFailure?: (failure: Failure) => void;
  /** Told of every answer, once it is out: what a log of requests needs. */
  readonly onAnswer?: (answered: Answered) => void;
  /** Serves the hub’s figures without a key, too, on this port of loopback; 0: any free one. */
  readonly metricsPort?: number;
  /** Milliseconds between two looks at what its time is over for. Default: a minute. */
  readonly sweepEveryMs?: number;
  /** Told when something was ended because its time was over. */
  readonly onSwept?: (swept: Swept) => void;
}

export interface RunningHub {
  readonly hub: Hub;
  readonly url: string;
  /** Key of the local operator, which is also in the data folder. */
  readonly localKey: string;
  /** Whether it serves the page. */
  readonly hasPage: boolean;
  /** Where its figures are read without a key, if anywhere. */
  readonly metricsUrl?: string;
  /** Lets requests under way end, then closes hub and store. */
  close(): Promise<void>;
}

/**
 * A whole hub process: store, hub, HTTP, the local key and `hub.json` in the data folder, and the
 * process’s figures and spans (see `startTelemetry`).
 */
export async function startHub(options: StartHubOptions): Promise<RunningHub> {
  const folder = new DataFolder(options.dataDir);
  folder.create();
  await folder.claim();
  const page = options.page ?? pageFolder();
  const { prometheus, flush } = await startTelemetry('throughline-hub');
  const served = await serveHub({
    ...options,
    page,
    metrics: (principal) => (ownsFolder(principal) ? prometheus?.() : undefined),
    hub: (origin) => openHub({ ...options, origin }),
  });
  const { hub, url } = served;
  const onFailure = (error: unknown): void =>
    options.onFailure?.({ requestId: '', method: 'sweep', path: '', error });
  const note = async (): Promise<void> => noteHead(hub, folder).catch(onFailure);
  const sweep = async (): Promise<Swept> => {
    await note();
    return hub.sweep();
  };
  const { sweepEveryMs: everyMs = 60_000, onSwept } = options;
  const sweeping = startSweeping({ sweep }, { everyMs, onSwept, onFailure });
  let figures: Awaited<ReturnType<typeof serveMetrics>>;
  const close = async () => {
    figures?.close();
    await sweeping.stop();
    await served.close();
    await note();
    await hub.close();
    await flush();
  };
  try {
    await note();
    figures = await serveMetrics(prometheus, options.metricsPort);
    const localKey = await ensureLocalKey(hub, folder);
    folder.writeHubUrl(options.origin ?? url);
    const metricsUrl = figures && { metricsUrl: figures.url };
    return { hub, url, localKey, hasPage: page !== undefined, ...metricsUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Keeps where the log ends beside the store, for `verify`; throws `damaged`, and keeps what is noted, where
 * the log no longer holds it.
 */
async function noteHead(hub: Hub, folder: DataFolder): Promise<void> {
  const noted = folder.head();
  if (noted !== undefined && !(await hub.archive.holds(noted))) {
    throw new ThroughlineError(
      'damaged',
      `${folder.headFile}: tells of entry ${noted.seq}, which the log does not hold: it was cut off, or is an ` +
        'older one; run throughline verify, and delete the file where that is meant',
    );
  }
  const head = await hub.archive.head();
  if (noted?.seq !== head.seq || noted.hash !== head.hash) folder.writeHead(head);
}

/** The figures are of all tenants: they are for operators of the tenant that owns the folder. */
const ownsFolder = ({ tenant, role }: Principal): boolean =>
  role === 'operator' && tenant === localPrincipal.tenant;

/** The key in the folder, or a new one where it is missing or this hub does not know it. */
async function ensureLocalKey(hub: Hub, folder: DataFolder): Promise<string> {
  const kept = folder.localKey();
  if (kept !== undefined && (await isKnown(hub, kept))) return kept;
  const key = await hub.bootstrapKey(localPrincipal);
  folder.writeLocalKey(key);
  return key;
}

async function isKnown(hub: Hub, key: string): Promise<boolean> {
  try {
    await hub.authenticate(`Bearer ${key}`);
    return true;
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'unauthenticated') return false;
    throw error;
  }
}

/** The ports that an agent's or a Master's process works with. */
export interface Connection {
  readonly a2a: A2aPorts;
  readonly agent: AgentPorts;
  /** Both of these in one, as `serveAgent` takes them. */
  readonly ports: A2aPorts & AgentPorts;
  /** For `push` of an agent: configs with the hub, sending by the guarded way out. */
  readonly push: Push;
  readonly master: MasterPorts & RunLeases;
  /** How the hub treats contexts and history: what the agent's card states. */
  readonly terms: () => Promise<Terms>;
  close(): Promise<void>;
}

export type ConnectOptions = {
  /** What push notifications may call. Default: public hosts over https. */
  readonly outbound?: OutboundOptions;
} & (
  | {
      /** A hub over HTTP, and the API key of this process's principal. */
      readonly hubUrl: string;
      readonly key: string;
    }
  | (Omit<OpenHubOptions, 'origin'> & {
      /** Without a hub: on a SQLite file of its own, as this principal. */
      readonly principal: Principal;
      /** Begins its ContextURIs. Default: `http://localhost`. */
      readonly origin?: string;
    })
);

/** A hub is of our own domain. */
const traceHeaders = (): Readonly<Record<string, string>> => ({ ...currentTrace() });

/**
 * Connects a process to its hub, or opens the same ports on a file of its own. Such a folder holds a
 * key for callers, too: `local.key`, of the principal `local`.
 */
export async function connectAgent(options: ConnectOptions): Promise<Connection> {
  const sender = createOutbound(options.outbound);
  const telemetry = sendsSpans() ? await startTelemetry('throughline-agent') : undefined;
  if ('hubUrl' in options) {
    const { hubUrl: url, key } = options;
    const client = new HubClient({ url, key, headers: traceHeaders });
    const ports = client.ports();
    const terms = () => client.terms();
    return {
      a2a: ports,
      agent: ports,
      ports,
      push: { ports, sender },
      master: client.master(),
      terms,
      close: async () => telemetry?.flush(),
    };
  }
  const { principal, origin = 'http://localhost' } = options;
  const hub = await openHub({ ...options, origin });
  await ensureLocalKey(hub, new DataFolder(options.dataDir));
  const ports = { ...hub.via(principal), ...hub.agent(principal) };
  return {
    a2a: ports,
    agent: ports,
    ports,
    push: { ports, sender },
    master: hub.master(principal),
    terms: () => Promise.resolve(hub.terms),
    close: async () => {
      await hub.close();
      await telemetry?.flush();
    },
  };
}
