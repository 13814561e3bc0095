import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { AgentCard, Message, Task, TaskState, type Part as WirePart } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCard } from '../bindings/a2a/card.ts';
import { serveA2a } from '../bindings/a2a/serve.ts';
import { agentText, partToWire } from '../bindings/a2a/wire.ts';
import type { Part } from '../handover/parts.ts';
import { Hub } from '../hub/index.ts';
import { agentContextMediaType, type AgentContext } from '../model/agent-context.ts';
import { contentAccessKey, contentAccessSchema, type ContentRef } from '../model/content.ts';
import { correlationExtension, type Envelope } from '../model/envelope.ts';
import type { Principal } from '../model/principal.ts';
import { openMemoryStore } from '../store/index.ts';
import type { OfferedContent } from './offer.ts';
import type { WorkflowInput } from '../model/workflow.ts';
import type { KnownAgent } from './connection.ts';
import { createMaster, type Master, type MasterOptions } from './master.ts';

/** What an agent of the tests may do with one AgentContext. */
interface Bench {
  readonly context: AgentContext;
  readonly message: Message;
  readonly read: (contextId: string) => Promise<string>;
  readonly output: (name: string, text: string) => Promise<ContentRef>;
  readonly artifact: (name: string, part: Part, envelope?: Envelope) => void;
  readonly itemDone: (itemId: string) => void;
  /** Asks whoever gave the work, and waits for the answer. */
  readonly ask: (question: string) => Promise<string>;
}

/** What such an agent returns as its AgentContext; undefined: none. */
export type Behaviour = (bench: Bench) => unknown;

/** What reached an agent, whichever way. */
export interface Received {
  readonly agent: string;
  readonly messageId: string;
  readonly text: string;
}

const person = (id: string, role: Principal['role']): Principal => ({ tenant: 't', id, role });

/** The context done, with everything passed on the evidence given. */
export const done = (context: AgentContext, evidence: readonly string[]): AgentContext => ({
  ...context,
  ItemStateUpdates: context.todoItems.map(({ itemID }) => ({ itemID, state: 1 })),
  KeyInformation: context.todoItems.map(({ itemID }) => ({
    itemID,
    outputabstract: `${itemID} is done`,
  })),
  EvaluationResult: {
    Status: 'passed',
    Confidence: 1,
    CriterionResults: context.EvaluationPolicy.SuccessCriteria.map(({ CriterionID }) => ({
      CriterionID,
      Status: 'passed',
      EvidenceRefs: [...evidence],
      TraceRefs: [],
    })),
    FailureReason: '',
  },
});

/** A hub in memory, a desk with a user's request, and agents on sockets of their own. */
export class World {
  readonly hub: Hub;
  readonly desk: Principal = person('desk', 'agent');
  readonly received: Received[] = [];
  readonly agents: KnownAgent[] = [];
  /** Agents that do not stop when they are asked to. */
  readonly stubborn = new Set<string>();
  readonly #keys: (principal: Principal) => Promise<string>;
  readonly #open: { close(ms?: number): Promise<void> }[] = [];
  #deskUrl: string | undefined;
  #alice: string | undefined;

  static async open(): Promise<World> {
    const hub = await Hub.open({
      store: await openMemoryStore(),
      domainKey: new Uint8Array(32).fill(7),
      origin: 'http://hub.test',
    });
    return new World(hub);
  }

  private constructor(hub: Hub) {
    this.hub = hub;
    this.#keys = async (principal) => {
      const { key } = await hub.createKey(person('op', 'operator'), { principal });
      return `Bearer ${key}`;
    };
  }

  /** The desk's Master, which soon tries again. */
  master(options: Partial<MasterOptions> = {}): Master {
    return createMaster({
      ports: this.hub.master(this.desk),
      a2a: this.hub,
      principal: this.desk,
      name: 'Desk',
      agents: this.agents,
      retryMs: 5,
      ...options,
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((each) => each.close(100)));
    await this.hub.close();
  }

  /** A user's message to the desk: the A2A task that a run is for. */
  async request(text: string): Promise<string> {
    this.#deskUrl ??= await this.#serveDesk();
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
    this.#alice ??= await this.#keys(alice);
    const answer = await rpc(this.#deskUrl, this.#alice, {
      method: 'SendMessage',
      params: { message, configuration: { returnImmediately: true } },
    });
    return Task.fromJSON(Object(answer).task).id;
  }

  async #serveDesk(): Promise<string> {
    const served = await serveA2a({
      card: (url) => agentCard({ name: 'Desk', description: 'Desk', version: '1', url }),
      ports: this.hub.via(this.desk),
      agent: this.desk,
      executor: {
        execute: (request, bus) => {
          working(request, bus);
          return new Promise(() => undefined);
        },
        cancelTask: () => Promise.resolve(),
      },
    });
    this.#open.push(served);
    return served.url;
  }

  /** An agent behind the hub that takes AgentContexts. */
  async aciAgent(
    id: string,
    behaviour: Behaviour,
    port?: number,
  ): Promise<{ url: string; stop(): Promise<void> }> {
    const principal = person(id, 'agent');
    const served = await serveA2a({
      ...(port !== undefined && { port }),
      card: (url) => {
        const card = agentCard({ name: id, description: id, version: '1', url });
        card.capabilities?.extensions.push({
          uri: contentAccessKey,
          description: '',
          required: false,
          params: undefined,
        });
        return card;
      },
      ports: this.hub.via(principal),
      agent: principal,
      executor: new BenchExecutor(this, principal, behaviour),
    });
    this.#open.push(served);
    await this.#know({ id, name: id, url: served.url });
    return { url: served.url, stop: () => served.close(0) };
  }

  /** An agent on the bare SDK server: it knows nothing of us, checks nothing and keeps nothing. */
  async plainAgent(id: string, answer: PlainAnswer): Promise<{ url: string }> {
    const { promise: ready, resolve } = Promise.withResolvers<JsonRpcTransportHandler>();
    const server = createServer((incoming, outgoing) => {
      void ready.then(async (handler) => {
        let body = '';
        for await (const chunk of incoming) body += String(chunk);
        outgoing.setHeader('content-type', 'application/json');
        if (incoming.method === 'GET') return outgoing.end(JSON.stringify(AgentCard.toJSON(card)));
        const result = await handler.handle(JSON.parse(body), new ServerCallContext());
        return outgoing.end(JSON.stringify(result));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
    const card = agentCard({ name: id, description: id, version: '1', url, streaming: false });
    const executor = new PlainExecutor(this, id, answer);
    resolve(
      new JsonRpcTransportHandler(
        new DefaultRequestHandler(card, new InMemoryTaskStore(), executor),
      ),
    );
    this.#open.push({
      close: async () => {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    });
    await this.#know({ id, name: id, url });
    return { url };
  }

  async #know(agent: Omit<KnownAgent, 'credential'>): Promise<void> {
    if (this.agents.some(({ id }) => id === agent.id)) return;
    this.agents.push({ ...agent, credential: await this.#keys(this.desk) });
  }
}

/* A case that two agents solve between them: one must never see the diary. */

export const alice = { tenant: 't', id: 'alice', role: 'caller' } as const;
export const canary = 'CANARY-4711';
export const textItem = (name: string, content: string): OfferedContent => ({
  name,
  type: 'text',
  mediaType: 'text/plain',
  description: `The ${name}`,
  content,
});
export const offered = [
  textItem('terms', 'Cash back is 2 %.'),
  textItem('transactions', '100 EUR, paid 1 EUR.'),
  textItem('diary', `Dear diary, ${canary}. ${'More of it. '.repeat(200)}`),
];
export const workflow: WorkflowInput = {
  name: 'Cash back',
  subtasks: [
    {
      id: 'find',
      name: 'Find the rate',
      agent: 'reader',
      needs: [{ item: 'terms', role: 'source' }],
      produces: [{ name: 'rate', description: 'The rate', type: 'text' }],
      todo: [{ id: 'look', description: 'Look it up' }],
      criteria: [{ id: 'found', description: 'It is found' }],
      confidence: 0.8,
    },
    {
      id: 'check',
      name: 'Check the payment',
      agent: 'checker',
      dependsOn: ['find'],
      needs: ['rate', 'transactions'],
      produces: [{ name: 'missing.json', description: 'What is missing', type: 'table' }],
      todo: [{ id: 'sum', description: 'Add up' }],
      criteria: [{ id: 'right', description: 'It adds up' }],
      evaluation: 'relaxed',
    },
  ],
};

/** An agent that takes AgentContexts and a plain one, which do the workflow between them. */
export async function cashBackAgents(world: World): Promise<void> {
  await world.aciAgent('reader', async ({ context, read, output, itemDone }) => {
    const terms = await read(context.ContextItems[0]?.ContextID ?? '');
    await output('rate', /\d+ %/.exec(terms)?.[0] ?? '');
    itemDone('look');
    return done(context, ['rate']);
  });
  await world.plainAgent('checker', () => ({
    text: '1 EUR is missing',
    artifacts: [
      {
        name: 'missing.json',
        part: {
          content: { $case: 'data', value: { missing: 1 } },
          mediaType: 'application/json',
          filename: '',
          metadata: undefined,
        },
      },
    ],
  }));
}

async function rpc(url: string, authorization: string, call: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }),
  });
  const answer: { result?: unknown; error?: { message: string } } = JSON.parse(
    await response.text(),
  );
  if (answer.error !== undefined) throw new Error(answer.error.message);
  return answer.result;
}

function working(request: RequestContext, bus: ExecutionEventBus): void {
  bus.publish(
    AgentEvent.task({
      id: request.taskId,
      contextId: request.contextId,
      status: status(TaskState.TASK_STATE_WORKING),
      artifacts: [],
      history: [request.userMessage],
      metadata: undefined,
    }),
  );
}

const status = (state: TaskState, text?: string): NonNullable<Task['status']> => ({
  state,
  message:
    text === undefined
      ? undefined
      : agentText({ messageId: randomUUID(), taskId: '', contextId: '' }, text),
  timestamp: new Date().toISOString(),
});

const statusUpdate = (
  { taskId, contextId }: Pick<RequestContext, 'taskId' | 'contextId'>,
  at: NonNullable<Task['status']>,
  metadata?: Record<string, unknown>,
): ReturnType<typeof AgentEvent.statusUpdate> =>
  AgentEvent.statusUpdate({ taskId, contextId, status: at, metadata });

const artifactUpdate = (
  { taskId, contextId }: Pick<RequestContext, 'taskId' | 'contextId'>,
  name: string,
  part: WirePart,
  metadata?: Record<string, unknown>,
): ReturnType<typeof AgentEvent.artifactUpdate> =>
  AgentEvent.artifactUpdate({
    taskId,
    contextId,
    artifact: { artifactId: name, name, description: '', parts: [part], metadata, extensions: [] },
    append: false,
    lastChunk: true,
    metadata: undefined,
  });

/** Runs a behaviour on what comes in as an AgentContext. */
class BenchExecutor implements AgentExecutor {
  readonly #world: World;
  readonly #principal: Principal;
  readonly #behaviour: Behaviour;
  readonly #asked = new Map<string, (answer: string) => void>();

  constructor(world: World, principal: Principal, behaviour: Behaviour) {
    this.#world = world;
    this.#principal = principal;
    this.#behaviour = behaviour;
  }

  execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, userMessage } = request;
    const desk = this.#world.hub.agent(this.#principal);
    const text = JSON.stringify(Message.toJSON(userMessage));
    this.#world.received.push({
      agent: this.#principal.id,
      messageId: userMessage.messageId,
      text,
    });
    working(request, bus);
    const answered = this.#asked.get(taskId);
    if (answered !== undefined) {
      this.#asked.delete(taskId);
      const [said] = userMessage.parts;
      answered(said?.content?.$case === 'text' ? said.content.value : '');
      return;
    }
    const part = userMessage.parts.find(({ mediaType }) => mediaType === agentContextMediaType);
    const context: AgentContext = Object(part?.content).value;
    const access = contentAccessSchema.safeParse(userMessage.metadata?.[contentAccessKey]).data;
    const artifact = (name: string, content: Part, envelope?: Envelope): void => {
      const metadata = envelope && { [correlationExtension]: envelope };
      bus.publish(artifactUpdate(request, name, partToWire(content), metadata));
    };
    const returned = await this.#behaviour({
      context,
      message: userMessage,
      artifact,
      read: async (id) => {
        const item = context.ContextItems.find(({ ContextID }) => ContextID === id);
        const token = access?.token ?? '';
        const { bytes } = await desk.getContent(item?.ContextURI ?? '', token);
        const read = new TextDecoder().decode(bytes);
        this.#world.received.push({ agent: this.#principal.id, messageId: '', text: read });
        return read;
      },
      output: async (name, content) => {
        const bytes = new TextEncoder().encode(content);
        const ref = await untilStored(() =>
          desk.putOutput({ taskId, name, mediaType: 'text/plain', bytes }),
        );
        artifact(name, reference(name, ref), referring(name, ref));
        return ref;
      },
      itemDone: (itemID) => {
        const metadata = { [contentAccessKey]: { ItemStateUpdates: [{ itemID, state: 1 }] } };
        bus.publish(statusUpdate(request, status(TaskState.TASK_STATE_WORKING), metadata));
      },
      ask: (question) => {
        const { promise, resolve } = Promise.withResolvers<string>();
        this.#asked.set(taskId, resolve);
        bus.publish(statusUpdate(request, status(TaskState.TASK_STATE_INPUT_REQUIRED, question)));
        return promise;
      },
    });
    if (returned !== undefined) {
      const data: Part = { kind: 'data', data: returned, mediaType: agentContextMediaType };
      artifact('agent-context', data);
    }
    bus.publish(statusUpdate(request, status(TaskState.TASK_STATE_COMPLETED)));
  };

  cancelTask = (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    if (!this.#world.stubborn.has(this.#principal.id)) {
      bus.publish(statusUpdate({ taskId, contextId: '' }, status(TaskState.TASK_STATE_CANCELED)));
    }
    return Promise.resolve();
  };
}

export const reference = (name: string, ref: ContentRef): Part => ({
  kind: 'url',
  url: ref.uri,
  mediaType: ref.mediaType,
  name,
});

export const referring = (name: string, ref: ContentRef): Envelope => ({
  v: 1,
  resources: [{ id: ref.resource, name, digest: ref.digest, uri: ref.uri, part: 0 }],
});

async function untilStored<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries > 200) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
  }
}

interface PlainReply {
  readonly text: string;
  readonly artifacts?: readonly { readonly name: string; readonly part: WirePart }[];
  /** Answers by a message alone. */
  readonly alone?: boolean;
  readonly state?: TaskState;
}

type PlainAnswer = (message: Message) => PlainReply | Promise<PlainReply>;

class PlainExecutor implements AgentExecutor {
  readonly #world: World;
  readonly #id: string;
  readonly #answer: PlainAnswer;

  constructor(world: World, id: string, answer: PlainAnswer) {
    this.#world = world;
    this.#id = id;
    this.#answer = answer;
  }

  execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { contextId, userMessage } = request;
    this.#world.received.push({
      agent: this.#id,
      messageId: userMessage.messageId,
      text: JSON.stringify(Message.toJSON(userMessage)),
    });
    const { text, artifacts = [], alone, state } = await this.#answer(userMessage);
    if (alone === true) {
      bus.publish(
        AgentEvent.message(agentText({ messageId: randomUUID(), taskId: '', contextId }, text)),
      );
      bus.finished();
      return;
    }
    working(request, bus);
    for (const { name, part } of artifacts) bus.publish(artifactUpdate(request, name, part));
    bus.publish(statusUpdate(request, status(state ?? TaskState.TASK_STATE_COMPLETED, text)));
    bus.finished();
  };

  cancelTask = (): Promise<void> => Promise.resolve();
}
