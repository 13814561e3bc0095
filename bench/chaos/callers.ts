/** Whoever calls meanwhile: sends, follows, lists, cancels, grants, labels, and notes what was acknowledged. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectA2a, type A2aClient, type OutgoingMessage, type PeerTask } from 'throughline/a2a';
import { HubClient } from 'throughline/client';
import { ThroughlineError } from 'throughline/model';
import { deskCase } from '../../examples/support-desk/cases.ts';
import { customerPrincipal } from '../../examples/support-desk/agents/desk-agent.ts';
import type { Ledger, SeenOutput } from './ledger.ts';
import type { Order } from './orders.ts';
import { pick, randomFrom, type Random } from './random.ts';
import type { World } from './world.ts';

/** Milliseconds that one task may take, whatever is killed meanwhile. */
const taskMs = 240_000;
const retry = { attempts: 2_000, firstMs: 50, capMs: 500, forMs: taskMs };
const finalStates = new Set(['completed', 'failed', 'cancelled', 'rejected', 'timed-out']);

/** A message that was sent, to be sent once more at the end. */
export interface Sent {
  readonly caller: string;
  readonly message: OutgoingMessage & { readonly messageId: string };
  readonly order: Order | undefined;
  taskId: string;
  contextId: string;
}

export interface Caller {
  readonly id: string;
  readonly sent: Sent[];
  /** What went otherwise than it may, whatever is killed. */
  readonly wrong: string[];
  readonly clients: readonly A2aClient[];
  readonly hub: HubClient;
  close(): Promise<void>;
}

async function connect(url: string, key: string, id: string): Promise<A2aClient> {
  const self = { kind: 'user', name: id } as const;
  return connectA2a({ url, credential: `Bearer ${key}`, self, retry });
}

export const outputsOf = (task: PeerTask): SeenOutput[] =>
  task.outputs.map(({ name, parts }) => {
    const [part] = parts;
    return { name, uri: part?.kind === 'url' ? part.url : '' };
  });

/** One caller of the clerks. */
export async function openCaller(world: World, id: string): Promise<Caller> {
  const key = await world.keyFor(id);
  const clients = await Promise.all(world.clerkUrls.map((url) => connect(url, key, id)));
  return {
    id,
    sent: [],
    wrong: [],
    clients,
    hub: new HubClient({ url: world.hubUrl, key }),
    async close() {
      for (const client of clients) await client.close();
    },
  };
}

/** What a caller does how often. */
const habits = [
  ['send', 12],
  ['twice', 3],
  ['cancel', 3],
  ['look', 3],
  ['grant', 2],
  ['label', 2],
] as const;

/** Works until it is told to stop; what is under way then is brought to its end. */
export async function work(
  caller: Caller,
  options: { ledger: Ledger; seed: number; signal: AbortSignal },
): Promise<void> {
  const { ledger, seed, signal } = options;
  const random = randomFrom(seed);
  while (!signal.aborted) {
    const what = pick(random, habits);
    try {
      await deeds[what](caller, ledger, random);
    } catch (error) {
      if (!isAway(error)) {
        const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        caller.wrong.push(`${caller.id} ${what}: ${text}`);
      }
      await sleep(100);
    }
  }
}

/** What a caller has to expect while things are killed. */
const isAway = (error: unknown): boolean =>
  error instanceof ThroughlineError && ['unavailable', 'timeout'].includes(error.code);

type Deed = (caller: Caller, ledger: Ledger, random: Random) => Promise<void>;

const deeds: Readonly<Record<(typeof habits)[number][0], Deed>> = {
  send: async (caller, ledger, random) => {
    await follow(caller, ledger, messageOf(caller, random), clientOf(caller, random));
  },
  twice: async (caller, ledger, random) => {
    const sent = messageOf(caller, random);
    const [first, second = first] = caller.clients;
    if (first === undefined || second === undefined) return;
    await Promise.all([follow(caller, ledger, sent, first), follow(caller, ledger, sent, second)]);
  },
  cancel: async (caller, ledger, random) => {
    const client = clientOf(caller, random);
    const wait = random() * 600;
    const sent = messageOf(caller, random);
    const ended = follow(caller, ledger, sent, client);
    ended.catch(() => undefined);
    await sleep(wait);
    if (sent.taskId !== '') {
      const { state } = await client.cancel(sent.taskId).catch(async (error: unknown) => {
        if (error instanceof Error && isAway(error)) throw error;
        // It was over before.
        return client.getTask(sent.taskId);
      });
      if (finalStates.has(state)) ledger.note({ kind: 'cancelled', taskId: sent.taskId, state });
    }
    await ended;
  },
  look: async (caller, _ledger, random) => {
    const { tasks } = await clientOf(caller, random).listTasks({ pageSize: 20 });
    const own = new Set(caller.sent.map(({ taskId }) => taskId));
    const known = tasks.filter(({ taskId = '' }) => own.has(taskId));
    const [first] = known;
    if (first?.taskId !== undefined) await clientOf(caller, random).getTask(first.taskId);
  },
  grant: async (caller, ledger, random) => {
    const [sent] = caller.sent.filter(({ contextId }) => contextId !== '').slice(-1);
    if (sent === undefined) return;
    const grantee = `friend-${Math.floor(random() * 100)}`;
    const { contextId } = sent;
    const { id } = await caller.hub.grant(contextId, { grantee, operations: ['get', 'list'] });
    ledger.note({ kind: 'granted', contextId, grant: id });
  },
  label: async (caller, ledger, random) => {
    const [sent] = caller.sent.filter(({ contextId }) => contextId !== '').slice(-1);
    if (sent === undefined) return;
    const { contextId } = sent;
    const value = `v-${Math.floor(random() * 1_000_000)}`;
    ledger.note({ kind: 'labelling', contextId, value });
    const label = { name: 'chaos', value };
    const { assertions } = await caller.hub.case(contextId).label({ label });
    ledger.note({ kind: 'labelled', contextId, value, assertions });
  },
};

function clientOf({ clients }: Caller, random: Random): A2aClient {
  const client = clients[Math.floor(random() * clients.length)];
  if (client === undefined) throw new Error('no agent to call');
  return client;
}

function messageOf(caller: Caller, random: Random): Sent {
  const order = {
    name: `${caller.id} ${caller.sent.length}`,
    steps: 1 + Math.floor(random() * 4),
    pauseMs: Math.floor(50 + random() * 350),
  };
  const earlier = caller.sent.filter(({ contextId }) => contextId !== '');
  const goesOn = random() < 0.3 ? earlier.at(-1)?.contextId : undefined;
  const message = {
    messageId: randomUUID(),
    parts: [{ kind: 'text' as const, text: JSON.stringify(order) }],
    ...(goesOn === undefined ? {} : { contextId: goesOn }),
  };
  const sent: Sent = { caller: caller.id, message, order, taskId: '', contextId: '' };
  caller.sent.push(sent);
  return sent;
}

/** Sends, and follows to the end; the first word and the last are acknowledged. */
async function follow(
  caller: Caller,
  ledger: Ledger,
  sent: Sent,
  client: A2aClient,
): Promise<PeerTask> {
  let last: PeerTask | undefined;
  for await (const task of client.watch(sent.message, { timeoutMs: taskMs })) {
    last = task;
    const { taskId = '', contextId } = task;
    if (taskId === '') continue;
    if (sent.taskId === '') {
      Object.assign(sent, { taskId, contextId });
      const { messageId } = sent.message;
      ledger.note({ kind: 'begun', caller: caller.id, messageId, taskId, contextId });
    } else if (sent.taskId !== taskId) {
      caller.wrong.push(`${sent.message.messageId} is ${sent.taskId} and ${taskId}`);
    }
  }
  if (last?.taskId === undefined) throw new Error(`no task came of ${sent.message.messageId}`);
  const { taskId, state } = last;
  ledger.note({ kind: 'ended', at: Date.now(), taskId, state, outputs: outputsOf(last) });
  return last;
}

/** A customer of the desk, one case after the other. */
export async function openCustomer(world: World, caseId: string): Promise<Caller> {
  const one = deskCase(caseId);
  const id = customerPrincipal(one.customer);
  const key = await world.keyFor(id);
  const client = await connect(world.deskUrl, key, id);
  return {
    id,
    sent: [],
    wrong: [],
    clients: [client],
    hub: new HubClient({ url: world.hubUrl, key }),
    close: () => client.close(),
  };
}

export async function ask(
  customer: Caller,
  caseId: string,
  { ledger, signal }: { ledger: Ledger; signal: AbortSignal },
): Promise<void> {
  const [client] = customer.clients;
  if (client === undefined) return;
  while (!signal.aborted) {
    const message = {
      messageId: randomUUID(),
      parts: [{ kind: 'text' as const, text: deskCase(caseId).openingMessage }],
    };
    const sent: Sent = {
      caller: customer.id,
      message,
      order: undefined,
      taskId: '',
      contextId: '',
    };
    customer.sent.push(sent);
    try {
      await follow(customer, ledger, sent, client);
    } catch (error) {
      customer.wrong.push(`${customer.id}: ${String(error)}`);
    }
  }
}
