import { randomUUID } from 'node:crypto';
import { Hub } from '../hub/index.ts';
import { makeAgentContext } from '../handover/agent-context.ts';
import { agentContextMediaType, type AgentContext } from '../model/agent-context.ts';
import { contentAccessKey, type ContentAccess } from '../model/content.ts';
import type { Principal } from '../model/principal.ts';
import { openMemoryStore } from '../store/index.ts';
import type { Ports } from './io.ts';
import { serveAgent, type ServeAgentOptions } from './serve-agent.ts';

/** A hub in memory with one agent, `worker`, and a Master, `desk`, that talks to it by hand. */
export class World {
  readonly hub: Hub;
  readonly worker: Principal = { tenant: 't', id: 'worker', role: 'agent' };
  readonly desk: Principal = { tenant: 't', id: 'desk', role: 'agent' };
  readonly faults: unknown[] = [];
  /** The desk's. */
  readonly key: string;
  readonly #open: { close(ms?: number): Promise<void> }[] = [];

  static async open(): Promise<World> {
    const hub = await Hub.open({
      store: await openMemoryStore(),
      domainKey: new Uint8Array(32).fill(7),
      origin: 'http://hub.test',
    });
    const operator: Principal = { tenant: 't', id: 'op', role: 'operator' };
    const desk: Principal = { tenant: 't', id: 'desk', role: 'agent' };
    const { key } = await hub.createKey(operator, { principal: desk });
    return new World(hub, key);
  }

  private constructor(hub: Hub, key: string) {
    this.hub = hub;
    this.key = key;
  }

  /** The worker's ports, some of them replaced. */
  ports(replaced: Partial<Ports> = {}): Ports {
    return { ...this.hub.via(this.worker), ...this.hub.agent(this.worker), ...replaced };
  }

  async serve(
    options: Partial<ServeAgentOptions>,
  ): Promise<{ url: string; grpcAddress: string | undefined; stop(): Promise<void> }> {
    const served = await serveAgent({
      card: { name: 'Worker', description: 'Works', version: '1' },
      ports: this.ports(),
      principal: this.worker,
      onFault: (error) => this.faults.push(error),
      ...options,
    });
    this.#open.push(served);
    const { url, grpcAddress } = served;
    return { url, grpcAddress, stop: () => served.close(0) };
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((served) => served.close(100)));
    await this.hub.close();
  }

  /** A JSON-RPC call as the desk. */
  async call(url: string, method: string, params: unknown): Promise<Rpc> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.key}`,
        'content-type': 'application/json',
        'a2a-version': '1.0',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer: Rpc = JSON.parse(await response.text());
    return answer;
  }

  /** Sends and waits for the task's end. */
  async send(url: string, parts: unknown[], more: Record<string, unknown> = {}): Promise<WireTask> {
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts, ...more };
    const answer = await this.call(url, 'SendMessage', { message });
    const task = answer.result?.task;
    if (task === undefined) throw new Error(`no task: ${JSON.stringify(answer)}`);
    return task;
  }

  /** Offloads a text for the worker and gives the AgentContext that hands it over. */
  async handOver(
    url: string,
    text: string,
    change: (context: AgentContext) => AgentContext = (context) => context,
    thumbprint?: string,
  ): Promise<{ parts: unknown[]; metadata: Record<string, unknown>; context: AgentContext }> {
    const first = await this.send(url, [{ text: 'hello' }]);
    const master = this.hub.master(this.desk);
    const { activity } = await master.locate(first.id);
    const ref = await master.putContent({
      activity,
      resource: master.newId('resource'),
      mediaType: 'text/plain',
      bytes: new TextEncoder().encode(text),
    });
    const token = await master.readToken({
      uris: [ref.uri],
      audience: 'worker',
      seconds: 60,
      ...(thumbprint === undefined ? {} : { thumbprint }),
    });
    const context = change(
      makeAgentContext({
        agent: { id: 'worker', name: 'Worker' },
        subtask: { id: 'read', name: 'Read the notes' },
        dependencies: [],
        items: [
          {
            ContextID: ref.resource,
            ContextType: 'text',
            MediaType: 'text/plain',
            ContextURI: ref.uri,
            Description: 'Notes',
            Priority: 'must_preserve',
          },
        ],
        todo: [{ id: 'one', description: 'Read' }],
        criteria: [{ id: 'read', description: 'All of it is read', required: true }],
        confidence: 0.5,
      }),
    );
    const access: ContentAccess = {
      token,
      items: { [ref.resource]: { digest: ref.digest, size: ref.size } },
    };
    return {
      context,
      parts: [{ data: context, mediaType: agentContextMediaType }],
      metadata: { [contentAccessKey]: access },
    };
  }
}

export interface WireTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: WirePart[] } };
  readonly artifacts?: readonly { artifactId: string; parts: WirePart[] }[];
}
interface WirePart {
  readonly text?: string;
  readonly url?: string;
  readonly data?: AgentContext;
}
interface Rpc {
  readonly result?: { readonly task?: WireTask };
  readonly error?: { readonly message: string };
}

/** What a task returned as its AgentContext. */
export const returnedBy = ({ artifacts = [] }: WireTask): AgentContext | undefined =>
  artifacts.find(({ artifactId }) => artifactId === 'agent-context')?.parts[0]?.data;

export const saidBy = ({ status }: WireTask): string | undefined => status.message?.parts[0]?.text;
