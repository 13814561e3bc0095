/** What the smaller examples share: a hub in a folder of its own, agents and a Master on it. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveAgent, type AgentHandler, type ServeAgentOptions } from 'throughline/agent';
import { connectAgent, startHub, type RunningHub } from 'throughline/cli';
import {
  createMaster,
  type KnownAgent,
  type MasterOptions,
  type RunEvent,
  type RunReport,
  type RunRequest,
} from 'throughline/master';
import type { Principal } from 'throughline/model';
import { z } from 'zod';
import type { Play, Seen } from './story.ts';

/** The tenant of all but strangers. */
const home = 'local';

/** All that one agent was given: AgentContexts and the contents that it fetched. */
export interface Given {
  readonly agent: string;
  readonly kind: 'context' | 'content';
  readonly text: string;
}

export interface Ran extends Seen {
  readonly events: readonly RunEvent[];
  /** The A2A context of the case. */
  readonly contextId: string;
}

const answerSchema = z.object({
  result: z.object({
    task: z.object({
      id: z.string(),
      contextId: z.string(),
      status: z.object({ state: z.string() }),
    }),
  }),
});

/** A hub over HTTP with agents of their own keys beside it, in one process to keep examples small. */
export class World {
  readonly agents: KnownAgent[] = [];
  readonly given: Given[] = [];
  readonly #hub: RunningHub;
  readonly #folder: string;
  readonly #closing: (() => Promise<void>)[] = [];

  static async open(): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-'));
    try {
      return new World(await startHub({ dataDir: folder, port: 0 }), folder);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(hub: RunningHub, folder: string) {
    this.#hub = hub;
    this.#folder = folder;
  }

  async close(): Promise<void> {
    for (const close of this.#closing.toReversed()) await close();
    await this.#hub.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A key for whoever takes part, and a connection with it. */
  async #join(id: string, role: Principal['role'], tenant = home) {
    const principal: Principal = { tenant, id, role };
    const operator: Principal = { tenant, id: 'operator', role: 'operator' };
    const { key } = await this.#hub.hub.createKey(operator, { principal, label: 'example' });
    const connection = await connectAgent({ hubUrl: this.#hub.url, key });
    this.#closing.push(() => connection.close());
    return { principal, key, connection };
  }

  /** Serves an agent and lets the Master know it. All that it is given is noted. */
  async agent(
    id: string,
    description: string,
    handler: AgentHandler,
    options: Pick<ServeAgentOptions, 'code' | 'rewriters'> = {},
  ): Promise<void> {
    const { principal, connection } = await this.#join(id, 'agent');
    const name = id.replaceAll('-', ' ');
    const note = (kind: Given['kind'], text: string): void =>
      void this.given.push({ agent: id, kind, text });
    const served = await serveAgent({
      ...options,
      card: { name, description, version: '1.0.0' },
      ports: {
        ...connection.ports,
        getContent: async (uri, token, proof) => {
          const content = await connection.ports.getContent(uri, token, proof);
          note('content', new TextDecoder().decode(content.bytes));
          return content;
        },
      },
      principal,
      handler: (context, io) => {
        note('context', JSON.stringify(context));
        return handler(context, io);
      },
    });
    this.#closing.push(() => served.close(500));
    this.agents.push({ id, name, description, url: served.url, behind: 'hub' });
  }

  /** Serves all agents of an example. */
  async perform(cast: Play['cast']): Promise<void> {
    for (const [id, { description, handler }] of Object.entries(cast)) {
      await this.agent(id, description, handler);
    }
  }

  /** Sends a user's words to a Master that is itself an agent, and waits for the run's end. */
  async ask(
    query: string,
    request: Omit<RunRequest, 'taskId' | 'query'>,
    options: Partial<MasterOptions> = {},
  ): Promise<Ran> {
    const { principal, connection } = await this.#join('master', 'agent');
    const events: RunEvent[] = [];
    const { promise: ended, resolve, reject } = Promise.withResolvers<RunReport>();
    const master = createMaster({
      ports: connection.master,
      a2a: connection.a2a,
      principal,
      name: 'Master',
      agents: this.agents,
      ...options,
    });
    const served = await serveAgent({
      card: { name: 'Master', description: 'Divides what it is asked.', version: '1.0.0' },
      ports: connection.ports,
      principal,
      onMessage: async ({ text }, io) => {
        try {
          const run = { ...request, taskId: io.taskId, query: text };
          const onEvent = (event: RunEvent): void => void events.push(event);
          const report = await master.run(run, { onEvent, signal: io.signal });
          resolve(report);
          return { text: report.taskContext.OverallStatus };
        } catch (error) {
          reject(error);
          throw error;
        }
      },
    });
    this.#closing.push(() => served.close(500));
    const [report, contextId] = await Promise.all([ended, this.#send(served.url, query)]);
    const output = async (name: string): Promise<string> => {
      const found = report.subtasks
        .flatMap(({ outputs }) => outputs)
        .find((each) => each.name === name);
      if (found === undefined) throw new Error(`There is no output ${name}: ${whyNot(report)}`);
      const { bytes } = await connection.master.getContent(found.ref.uri);
      return new TextDecoder().decode(bytes);
    };
    return { report, output, given: this.given, steps: stepsOf(events), events, contextId };
  }

  /** Has somebody of another tenant say something to an agent of theirs, on the same hub. */
  async inAnotherTenant(text: string): Promise<void> {
    const elsewhere = 'elsewhere';
    const { principal, connection } = await this.#join('stranger', 'agent', elsewhere);
    const served = await serveAgent({
      card: { name: 'Stranger', description: 'Is none of ours.', version: '1.0.0' },
      ports: connection.ports,
      principal,
      onMessage: (message) => ({ text: message.text }),
    });
    this.#closing.push(() => served.close(500));
    await this.#send(served.url, text, elsewhere);
  }

  /** As a user, over A2A. */
  async #send(url: string, text: string, tenant?: string): Promise<string> {
    const { key } = await this.#join(`user-${randomUUID()}`, 'caller', tenant);
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'a2a-version': '1.0',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
      signal: AbortSignal.timeout(120_000),
    });
    return answerSchema.parse(await response.json()).result.task.contextId;
  }
}

function stepsOf(events: readonly RunEvent[]): string[] {
  const begun = new Set<string>();
  return events.flatMap((event) => {
    if (event.kind === 'subtask-started') {
      begun.add(event.subtask);
      return [`begins ${event.subtask}`];
    }
    const ends = event.kind === 'subtask-finished' && begun.has(event.subtask);
    return ends ? [`ends ${event.subtask}`] : [];
  });
}

/** Why subtasks are not completed, for whoever reads the failure. */
export const whyNot = ({ subtasks }: RunReport): string =>
  subtasks
    .filter(({ status }) => status !== 'completed')
    .map(({ id, status, attempts, verdict }) =>
      [id, status, attempts.at(-1)?.reason, ...(verdict?.reasons ?? [])].filter(Boolean).join(' '),
    )
    .join('; ');
