/** A hub over HTTP with a Master and agents in processes' places: what tests of handing over are told in. */
import { serveAgent, type AgentHandler, type ServeAgentOptions } from '../../agent/index.ts';
import { connectA2a } from '../../bindings/a2a/index.ts';
import { HubClient } from '../../client/index.ts';
import { Hub, type HubOptions } from '../../hub/index.ts';
import {
  createMaster,
  type Master,
  type MasterOptions,
  type OfferedContent,
  type RunOptions,
  type RunReport,
  type WorkflowInput,
} from '../../master/index.ts';
import type { Principal } from '../../model/principal.ts';
import { serveHub, type ServedHubHandle } from '../../server/index.ts';
import { openMemoryStore } from '../../store/index.ts';

const of = (id: string, role: Principal['role'] = 'agent'): Principal => ({
  tenant: 't',
  id,
  role,
});

/** One subtask, for the agent `worker`, that needs `notes`. */
export const reading = (more: Partial<WorkflowInput['subtasks'][number]> = {}): WorkflowInput => ({
  name: 'read',
  subtasks: [
    {
      id: 'read',
      name: 'Read the notes',
      agent: 'worker',
      needs: ['notes'],
      todo: [{ id: 'one', description: 'Read' }],
      evaluation: 'relaxed',
      attempts: 1,
      ...more,
    },
  ],
});

/** Reads all of its items and says what is in them. */
export const reader: AgentHandler = async (context, io) => {
  const texts: string[] = [];
  for (const { ContextID: id } of context.ContextItems) texts.push((await io.fetch(id)).text());
  await io.itemDone('one', texts.join(' and '));
};

export const notes = (content: OfferedContent['content']): OfferedContent => ({
  name: 'notes',
  type: 'text',
  mediaType: 'text/plain',
  description: 'Notes',
  content,
});

export class Handing {
  readonly hub: Hub;
  readonly faults: unknown[] = [];
  /** Times that agents had a token renewed. */
  renewals = 0;
  readonly #served: ServedHubHandle<Hub>;
  readonly #open: { close(ms?: number): Promise<unknown> }[] = [];
  /** Those that are served, as the Master knows them. */
  agents: MasterOptions['agents'] = [];

  static async open(options: Partial<HubOptions> = {}): Promise<Handing> {
    const served = await serveHub({
      port: 0,
      hub: async (origin) =>
        Hub.open({
          store: await openMemoryStore(),
          domainKey: new Uint8Array(32).fill(7),
          origin,
          ...options,
        }),
    });
    return new Handing(served);
  }

  private constructor(served: ServedHubHandle<Hub>) {
    this.#served = served;
    this.hub = served.hub;
  }

  get url(): string {
    return this.#served.url;
  }

  async keyOf(id: string, role: Principal['role'] = 'agent'): Promise<string> {
    const { key } = await this.hub.createKey(of('op', 'operator'), { principal: of(id, role) });
    return key;
  }

  async clientOf(id: string, role?: Principal['role']): Promise<HubClient> {
    return new HubClient({ url: this.url, key: await this.keyOf(id, role) });
  }

  /** An agent that the Master knows. */
  async serve(
    does: AgentHandler | Pick<ServeAgentOptions, 'onMessage'>,
    more: Partial<ServeAgentOptions> = {},
    id = 'worker',
  ): Promise<void> {
    const own = (await this.clientOf(id)).ports();
    const ports: typeof own = {
      ...own,
      renewToken: (...given) => {
        this.renewals += 1;
        return own.renewToken(...given);
      },
    };
    const served = await serveAgent({
      card: { name: id, description: id, version: '1' },
      ports,
      principal: of(id),
      ...(typeof does === 'function' ? { handler: does } : does),
      onFault: (error) => this.faults.push(error),
      ...more,
    });
    this.#open.push(served);
    this.agents = [...this.agents, { id, name: id, url: served.url, behind: 'hub' }];
  }

  /** A Master behind the hub, as a process of its own would have it. */
  async master(more: Partial<MasterOptions> = {}): Promise<Master> {
    const client = await this.clientOf('desk');
    return createMaster({
      ports: client.master(),
      a2a: client,
      principal: of('desk'),
      name: 'Desk',
      agents: this.agents,
      retryMs: 5,
      ...more,
    });
  }

  /** A run by a Master behind the hub, asked for by a user; what went wrong before it began is thrown. */
  async run(
    workflow: WorkflowInput,
    offered: readonly OfferedContent[],
    more: Partial<MasterOptions> = {},
    options: RunOptions = {},
  ): Promise<RunReport> {
    const client = await this.clientOf('desk');
    const master = await this.master(more);
    const reported = Promise.withResolvers<RunReport>();
    reported.promise.catch(() => undefined);
    const desk = await serveAgent({
      card: { name: 'desk', description: 'desk', version: '1' },
      ports: client.ports(),
      principal: of('desk'),
      onMessage: async ({ text: query }, io) => {
        const run = master.run({ taskId: io.taskId, query, workflow, offered }, options);
        run.then(reported.resolve, reported.reject);
        await run.catch(() => undefined);
        return { text: 'done' };
      },
    });
    this.#open.push(desk);
    const user = await connectA2a({
      url: desk.url,
      credential: `Bearer ${await this.keyOf('priya', 'caller')}`,
      self: { kind: 'user', name: 'priya' },
      carriesTrace: true,
    });
    this.#open.push(user);
    await user.send({ parts: [{ kind: 'text', text: 'Read them' }] });
    return reported.promise;
  }

  async close(): Promise<void> {
    for (const each of this.#open.toReversed()) await each.close(0);
    await this.#served.close();
    await this.hub.close();
  }
}
