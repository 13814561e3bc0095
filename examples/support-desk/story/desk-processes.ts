/** The four processes of the desk, arranged: keys made, agents known to the Master. */
import { HubClient } from 'throughline/client';
import { hasPython, startChecker, type RunningChecker } from '../account-checker/run-checker.ts';
import type { CheckName } from './check-names.ts';
import { faultEnv } from './faults.ts';
import { start, type Running, type Saying } from './processes.ts';

/** Longer than any story takes: the worker that is to be killed waits this long. */
const holdMs = 120_000;

export interface DeskOptions {
  dataDir: string;
  /** Path or URL of the hub's database, where it is not in the folder. */
  store?: string;
  /** The operator's key, once the hub is up. */
  localKey: () => string;
  fault?: CheckName;
  onSaying: (saying: Saying) => void;
  /** More that the desk knows: what must not get out. */
  known: readonly { name: string; description: string; content: string }[];
  /** Text that stands in a case of another tenant. */
  otherTenant: string;
  /** Files in which the agents note all that they are given. */
  captures: { policyReader: string; caseWriter: string };
}

interface Parts {
  hub: Running;
  /** As the operator of the desk. */
  operator: HubClient;
  policyReader: Running;
  accountChecker: RunningChecker & { language: string };
  caseWriter: Running;
  /** contextId of a case of another tenant. */
  otherTenantContext: string;
}

/** Principal ids of the agents behind the hub. */
const ids = { policyReader: 'policy-reader', caseWriter: 'case-writer' } as const;

/** Whoever takes part: each key is made once. */
class Keys {
  readonly #operator: HubClient;
  readonly #keys = new Map<string, Promise<{ id: string; key: string }>>();

  constructor(operator: HubClient) {
    this.#operator = operator;
  }

  async for(id: string, role: 'caller' | 'agent'): Promise<string> {
    const known = this.#keys.get(id) ?? this.#make(id, role);
    this.#keys.set(id, known);
    return (await known).key;
  }

  /** Nobody needs them once the story is told. */
  async revoke(): Promise<void> {
    for (const made of this.#keys.values()) await this.#operator.revokeKey((await made).id);
    this.#keys.clear();
  }

  async #make(id: string, role: 'caller' | 'agent'): Promise<{ id: string; key: string }> {
    const { tenant } = await this.#operator.whoAmI();
    const principal = { tenant, id, role };
    return this.#operator.createKey({ principal, label: 'support-desk' });
  }
}

/** The desk's processes while a story runs. */
export class DeskProcesses {
  readonly #options: DeskOptions;
  readonly #running: { stop(): Promise<void> }[] = [];
  #keys: Keys | undefined;
  #parts: Parts | undefined;

  private constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Starts hub, account checker and agents, and tells the desk who they are. */
  static async start(options: DeskOptions): Promise<DeskProcesses> {
    const desk = new DeskProcesses(options);
    try {
      await desk.#start();
      return desk;
    } catch (error) {
      await desk.stop();
      throw error;
    }
  }

  get parts(): Parts {
    if (this.#parts === undefined) throw new Error('The desk is not up yet');
    return this.#parts;
  }

  /** A key for whoever comes. */
  keyFor(id: string, role: 'caller' | 'agent' = 'caller'): Promise<string> {
    if (this.#keys === undefined) throw new Error('The hub is not up yet');
    return this.#keys.for(id, role);
  }

  /** Ends an agent as a crash would, and starts it again where it was. */
  async killAndRestart(agent: 'policyReader' | 'caseWriter'): Promise<void> {
    const before = this.parts[agent];
    await before.kill();
    const env = { SUPPORT_DESK_PORT: new URL(before.url).port };
    this.parts[agent] = await this.#ours(agent, env);
  }

  /** Ends hub and desk as a crash would, and starts them again on the same folder and port. */
  async killAndRestartHub(): Promise<void> {
    const { hub } = this.parts;
    await hub.kill();
    const { port } = new URL(hub.url);
    this.parts.hub = await this.#hub(() => undefined, { SUPPORT_DESK_PORT: port });
    await this.#arrange();
  }

  async stop(): Promise<void> {
    // A desk whose hub is gone has no keys to revoke.
    await this.#keys?.revoke().catch(() => undefined);
    for (const each of this.#running.toReversed()) await each.stop();
  }

  async #start(): Promise<void> {
    const { promise: otherTenant, resolve } = Promise.withResolvers<string>();
    const hub = await this.#hub(resolve);
    const operator = new HubClient({ url: hub.url, key: this.#options.localKey() });
    this.#keys = new Keys(operator);
    this.#parts = {
      hub,
      operator,
      accountChecker: await this.#accountChecker(),
      policyReader: await this.#ours('policyReader', { SUPPORT_DESK_HOLD_MS: String(holdMs) }, hub),
      caseWriter: await this.#ours('caseWriter', {}, hub),
      otherTenantContext: '',
    };
    await this.#arrange();
    this.#parts.otherTenantContext = await Promise.race([otherTenant, hub.ended]);
  }

  async #hub(
    hearOtherTenant: (contextId: string) => void,
    env: Record<string, string> = {},
  ): Promise<Running> {
    const { dataDir, store, fault, onSaying } = this.#options;
    return this.#keep(
      await start({
        name: 'hub with the desk',
        module: 'agents/desk',
        env: {
          SUPPORT_DESK_DATA: dataDir,
          ...(store !== undefined && { SUPPORT_DESK_STORE: store }),
          ...faultEnv(fault, 'desk'),
          ...env,
        },
        onSaying: (saying) => {
          if (saying.kind === 'other-tenant') hearOtherTenant(String(saying['contextId']));
          onSaying(saying);
        },
      }),
    );
  }

  async #accountChecker(): Promise<Parts['accountChecker']> {
    const twin = hasPython() ? 'python' : 'node';
    const language = twin === 'python' ? 'Python' : 'node:http';
    return { ...this.#keep(await startChecker(twin)), language };
  }

  async #ours(
    agent: keyof typeof ids,
    env: Record<string, string>,
    hub = this.parts.hub,
  ): Promise<Running> {
    const id = ids[agent];
    return this.#keep(
      await start({
        name: id.replace('-', ' '),
        module: `agents/${id}`,
        env: {
          SUPPORT_DESK_HUB: hub.url,
          SUPPORT_DESK_KEY: await this.keyFor(id, 'agent'),
          SUPPORT_DESK_CAPTURE: this.#options.captures[agent],
          ...faultEnv(this.#options.fault, id),
          ...env,
        },
        onSaying: this.#options.onSaying,
      }),
    );
  }

  async #arrange(): Promise<void> {
    const { hub, policyReader, accountChecker, caseWriter } = this.parts;
    const { otherTenant, known } = this.#options;
    const behind = 'hub';
    hub.tell({
      kind: 'arrangement',
      agents: [
        { id: 'policy-reader', name: 'Policy reader', url: policyReader.url, behind },
        { id: 'account-checker', name: 'Account checker', url: accountChecker.url },
        { id: 'case-writer', name: 'Case writer', url: caseWriter.url, behind },
      ],
      secondLine: await this.keyFor('second-line', 'agent'),
      otherTenant,
      known: known.map((each) => ({ ...each, type: 'text', mediaType: 'text/plain' })),
    });
  }

  #keep<T extends { stop(): Promise<void> }>(process: T): T {
    this.#running.push(process);
    return process;
  }
}
