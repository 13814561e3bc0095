import { SendMessageRequest, TaskState } from '@a2a-js/sdk';
import {
  JsonRpcTransportFactory,
  RestTransportFactory,
  type RequestOptions,
  type Transport,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { LegacyJsonRpcTransport, LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { LegacyGrpcTransport } from '@a2a-js/sdk/compat/v0_3/client/grpc';
import { afterEach, describe, expect, it } from 'vitest';
import { makeExecutor, type MessageHandler } from '../src/agent/index.ts';
import { agentCard } from '../src/bindings/a2a/card.ts';
import { peerTransports, type PeerTransport } from '../src/bindings/a2a/peer-transport.ts';
import { restRoutes } from '../src/bindings/a2a/rest-routes.ts';
import { serveA2a } from '../src/bindings/a2a/serve.ts';
import { hold, isAllowed, tells, type Call } from './access-checks.ts';
import type { Row } from './access-rows.ts';
import { everybody, people, World, type Ids, type Known } from './access-world.ts';

const factories: Readonly<Record<PeerTransport, TransportFactory>> = {
  jsonrpc: new JsonRpcTransportFactory(),
  'http-json': new RestTransportFactory(),
  grpc: new GrpcTransportFactory(),
};
/** Both versions, each over every transport; 0.3 knows no list of tasks. */
const wires = peerTransports.flatMap((kind) => [kind, `${kind} of 0.3`] as const);
type Wire = (typeof wires)[number];
const isLegacy = (wire: string): boolean => wire.endsWith('0.3');

const onMessage: MessageHandler = ({ text }) => ({ text: `Done: ${text}` });
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A world whose desk is served over every transport. */
class ServedWorld {
  readonly world: World;
  readonly transports: Readonly<Record<Wire, Transport>>;

  static async open(): Promise<ServedWorld> {
    const world = await World.open();
    const agent = people.agent;
    const ports = { ...world.hub.via(agent), ...world.hub.agent(agent) };
    const served = await serveA2a({
      card: (url) => agentCard({ name: 'Desk', description: 'Helps', version: '1', url }),
      extendedCard: agentCard({
        name: 'Desk',
        description: 'More',
        version: '1',
        url: 'http://a/',
      }),
      ports,
      agent,
      executor: makeExecutor({ ports, principal: agent, onMessage }),
      grpc: {},
      push: { ports, sender: { check: () => undefined, send: async () => ({ status: 200 }) } },
    });
    closing.push(() => served.close(100));
    await served.resumed;
    const to = (kind: PeerTransport): Promise<Transport> =>
      factories[kind].create(
        kind === 'grpc' ? (served.grpcAddress ?? '') : served.url,
        served.card,
      );
    const [jsonrpc, rest, grpc] = await Promise.all([to('jsonrpc'), to('http-json'), to('grpc')]);
    return new ServedWorld(world, {
      jsonrpc,
      'http-json': rest,
      grpc,
      'jsonrpc of 0.3': new LegacyJsonRpcTransport({ endpoint: served.url }),
      'http-json of 0.3': new LegacyRestTransport({ endpoint: served.url.slice(0, -1) }),
      'grpc of 0.3': new LegacyGrpcTransport({ endpoint: served.grpcAddress ?? '' }),
    });
  }

  private constructor(world: World, transports: Readonly<Record<Wire, Transport>>) {
    this.world = world;
    this.transports = transports;
  }
}

interface MethodRow extends Row {
  readonly call: (to: Transport, ids: Ids, by: RequestOptions) => Promise<unknown>;
}

const sending = (more: object): SendMessageRequest =>
  SendMessageRequest.fromJSON({
    message: {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text: 'hello' }],
      ...more,
    },
  });

/** What comes first on a stream; refused as the stream is. */
async function first<T>(stream: AsyncGenerator<T, void, undefined>): Promise<T | undefined> {
  const { value } = await stream.next();
  await stream.return();
  return value ?? undefined;
}

const config = ({ task }: Ids) => ({ tenant: '', taskId: task, id: 'push-1' });
const read: readonly Known[] = ['owner', 'get', 'operator', 'agent'];
const pushing: readonly Known[] = ['owner', 'push'];

/** By the method's name on the wire; a method without a row fails. */
const rows: Readonly<Record<string, MethodRow>> = {
  SendMessage: {
    allowed: ['owner', 'send'],
    call: (to, { context }, by) => to.sendMessage(sending({ contextId: context }), by),
  },
  SendStreamingMessage: {
    allowed: ['owner', 'send'],
    call: (to, { context }, by) => first(to.sendMessageStream(sending({ contextId: context }), by)),
  },
  ListTasks: {
    allowed: ['owner', 'list', 'operator', 'agent'],
    lists: true,
    call: (to, { context }, by) =>
      to.listTasks(
        {
          tenant: '',
          contextId: context,
          status: TaskState.TASK_STATE_UNSPECIFIED,
          pageToken: '',
          statusTimestampAfter: undefined,
        },
        by,
      ),
  },
  GetTask: {
    allowed: read,
    call: (to, { task }, by) => to.getTask({ tenant: '', id: task }, by),
  },
  CancelTask: {
    knows: read,
    allowed: ['owner', 'cancel', 'operator'],
    call: (to, { task }, by) => to.cancelTask({ tenant: '', id: task, metadata: undefined }, by),
  },
  SubscribeToTask: {
    knows: read,
    allowed: ['owner', 'subscribe', 'operator', 'agent'],
    call: (to, { task }, by) => first(to.resubscribeTask({ tenant: '', id: task }, by)),
  },
  CreateTaskPushNotificationConfig: {
    knows: [...read, 'push'],
    allowed: pushing,
    call: (to, ids, by) =>
      to.createTaskPushNotificationConfig(
        { ...config(ids), url: 'https://told.example/', token: '', authentication: undefined },
        by,
      ),
  },
  ListTaskPushNotificationConfigs: {
    knows: [...read, 'push'],
    allowed: [...pushing, 'agent'],
    call: (to, { task }, by) =>
      to.listTaskPushNotificationConfig(
        { tenant: '', taskId: task, pageSize: 0, pageToken: '' },
        by,
      ),
  },
  GetTaskPushNotificationConfig: {
    knows: [...read, 'push'],
    allowed: ['owner'],
    call: (to, ids, by) => to.getTaskPushNotificationConfig(config(ids), by),
  },
  DeleteTaskPushNotificationConfig: {
    knows: [...read, 'push'],
    allowed: pushing,
    call: (to, ids, by) => to.deleteTaskPushNotificationConfig(config(ids), by),
  },
  GetExtendedAgentCard: {
    allowed: 'anyone',
    call: (to, _ids, by) => to.getExtendedAgentCard({ tenant: '' }, by),
  },
};

const byText = (a: string, b: string): number => (a < b ? -1 : 1);
const options = (wire: Wire, authorization: string | undefined): RequestOptions => ({
  serviceParameters: {
    ...(isLegacy(wire) ? {} : { 'a2a-version': '1.0' }),
    ...(authorization === undefined ? {} : { authorization }),
  },
});

async function attempt(call: Promise<unknown>): Promise<{ done: boolean; text: string }> {
  try {
    return { done: true, text: JSON.stringify((await call) ?? '') };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { done: false, text: cause instanceof Error ? `${cause.name} ${cause.message}` : '' };
  }
}

const cells = wires.flatMap((kind) =>
  Object.entries(rows)
    .filter(([name]) => !(isLegacy(kind) && name === 'ListTasks'))
    .map(([name, row]) => ({ kind, name, row })),
);

describe('an agent over A2A', () => {
  it('has a row for every method, and no other', () => {
    const methods = [...new Set(restRoutes.map(({ rpc }) => rpc))];
    expect(Object.keys(rows).toSorted(byText)).toEqual(methods.toSorted(byText));
  });

  it.each(cells)('lets exactly those through who may: $name over $kind', async ({ kind, row }) => {
    const served = new Map<World, ServedWorld>();
    const open = async (): Promise<World> => {
      const made = await ServedWorld.open();
      served.set(made.world, made);
      return made.world;
    };
    const call =
      (person: Known): Call =>
      async (world, ids) => {
        const to = served.get(world)?.transports[kind];
        if (to === undefined) throw new Error('not served');
        return attempt(row.call(to, ids, options(kind, world.credential(person))));
      };
    await hold(row, everybody, (person) => isAllowed(row, person), call, open);
  });

  it.each(cells)('tells nobody anything: $name over $kind', async ({ kind, row }) => {
    const { world, transports } = await ServedWorld.open();
    const before = await world.state();
    for (const credential of [undefined, 'Bearer ', world.credential('owner').slice(0, -1)]) {
      const by = options(kind, credential);
      const { done, text } = await attempt(row.call(transports[kind], world.ids, by));
      expect({ done, tells: tells(text, world.ids) }).toEqual({ done: false, tells: false });
    }
    expect(await world.state()).toEqual(before);
  });
});
