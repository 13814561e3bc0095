/** The hub's process: the hub, the desk with its Master, and the second line beside it. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  a2aRoutes,
  agentCard,
  openGrpc,
  withGrpc,
  type A2aRoutes,
  type ServedGrpc,
} from 'throughline/a2a';
import { makeExecutor, type MessageHandler } from 'throughline/agent';
import { localPrincipal, startHub } from 'throughline/cli';
import type { Selector } from 'throughline/handover';
import type { Hub } from 'throughline/hub';
import { createMaster, type Grader, type Master } from 'throughline/master';
import { ThroughlineError, type Principal } from 'throughline/model';
import { desk } from './desk-agent.ts';
import { chosenTransport, logFault } from './process.ts';
import { secondLine } from './second-line.ts';

const settings = z
  .object({
    SUPPORT_DESK_DATA: z.string(),
    SUPPORT_DESK_PORT: z.coerce.number().int().default(0),
    SUPPORT_DESK_STORE: z.string().optional(),
  })
  .parse(process.env);

/** What the parent tells once the others run: who they are and how they are opened. */
const arrangementSchema = z.object({
  kind: z.literal('arrangement'),
  agents: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      url: z.url(),
      /** Absent: somebody else's agent, which knows nothing of our hub. */
      behind: z.literal('hub').exactOptional(),
    }),
  ),
  /** The second line's own credential. */
  secondLine: z.string(),
  /** Text to put into a case of another tenant, for whoever looks for leaks. */
  otherTenant: z.string(),
  /** More that the desk knows, for whoever looks for leaks. */
  known: z.array(
    z.object({
      name: z.string(),
      type: z.literal('text'),
      mediaType: z.string(),
      description: z.string(),
      content: z.string(),
    }),
  ),
});
type Arrangement = z.infer<typeof arrangementSchema>;

const agentPrincipal = (id: string): Principal => ({
  tenant: localPrincipal.tenant,
  id,
  role: 'agent',
});

/** A message waits for the arrangement: after a restart the parent tells it anew. */
const { promise: arranged, resolve: arrange } = Promise.withResolvers<Arrangement>();

const routes: A2aRoutes[] = [];
/** Each agent of this process has a port for gRPC beside its path on the hub's. */
const rpc: Record<'desk' | 'second-line', ServedGrpc> = {
  desk: await openGrpc(),
  'second-line': await openGrpc(),
};

function mount(
  hub: Hub,
  url: string,
  id: keyof typeof rpc,
  about: About,
  onMessage: MessageHandler,
) {
  const principal = agentPrincipal(id);
  const ports = { ...hub.via(principal), ...hub.agent(principal) };
  const mounted = a2aRoutes({
    card: withGrpc(
      agentCard({ ...about, version: '1.0.0', url: `${url}/agents/${id}/` }),
      rpc[id].address,
    ),
    ports,
    agent: principal,
    executor: makeExecutor({ ports, principal, onMessage, onFault: logFault }),
    onFault: logFault,
  });
  routes.push(mounted);
  rpc[id].serve({ guard: mounted.guard, ports, card: mounted.card });
  return mounted.app;
}

interface About {
  name: string;
  description: string;
}

/** A choice gone wrong on purpose, for whoever checks the checks: everybody gets the desk's notes. */
const withNotes: Selector = ({ needs }, offered) => [
  ...needs,
  ...offered.map(({ name }) => name).filter((name) => name === 'desk notes'),
];

function deskHandler(hub: Hub): MessageHandler {
  const principal = agentPrincipal('desk');
  const ports = hub.master(principal);
  return async (message, io) => {
    const { agents, known } = await arranged;
    const masterWith = (grade: Grader): Master =>
      createMaster({
        ports,
        grade,
        a2a: hub,
        principal,
        name: 'Desk',
        agents,
        onFault: logFault,
        ...chosenTransport(),
        ...(process.env['SUPPORT_DESK_FAULT'] === 'hand-over-notes' && { selector: withNotes }),
      });
    const answer = desk({
      masterWith,
      known,
      read: async (uri) => new TextDecoder().decode((await ports.getContent(uri)).bytes),
      onEvent: (event) => process.send?.({ kind: 'event', event }),
    });
    return answer(message, io);
  };
}

const running = await startHub({
  dataDir: settings.SUPPORT_DESK_DATA,
  port: settings.SUPPORT_DESK_PORT,
  ...(settings.SUPPORT_DESK_STORE !== undefined && { store: settings.SUPPORT_DESK_STORE }),
  onFailure: ({ error }) => logFault(error),
  mounts: (hub, url) => ({
    desk: mount(
      hub,
      url,
      'desk',
      { name: 'Desk', description: 'Takes what customers write and answers them.' },
      deskHandler(hub),
    ),
    'second-line': mount(
      hub,
      url,
      'second-line',
      { name: 'Second line', description: 'Picks up cases that it was granted.' },
      async (message, io) => {
        const { secondLine: credential } = await arranged;
        return secondLine({ deskUrl: `${url}/agents/desk/`, credential })(message, io);
      },
    ),
  }),
});

/** A case of a tenant that the desk's people have nothing to do with. */
async function openOtherTenant(hub: Hub, text: string): Promise<string> {
  const principal: Principal = { tenant: 'another-bank', id: 'somebody', role: 'agent' };
  const caller = { principal };
  const messageId = randomUUID();
  const payload = `sha-256:${createHash('sha256').update(text).digest('hex')}`;
  const { contextId } = await hub.admit(caller, {
    agent: principal.id,
    messageId,
    referenceTaskIds: [],
    payload,
  });
  const at = new Date().toISOString();
  const party = { kind: 'agent', name: 'Somebody', principal: principal.id } as const;
  const taskId = randomUUID();
  const where = {
    protocol: 'a2a',
    side: 'server',
    endpoint: running.url,
    contextId,
    client: party,
    server: party,
    at,
    taskId,
    objective: text,
  } as const;
  await hub.saveTask(
    caller,
    {
      id: taskId,
      contextId,
      agent: principal.id,
      version: 0,
      state: 'completed',
      statusAt: at,
      messageId,
      body: { text },
    },
    [
      { ...where, kind: 'message', messageId, referenceTaskIds: [], resources: [] },
      { ...where, kind: 'task', state: 'completed' },
    ],
  );
  return contextId;
}

/** A minute, all in all. */
const mostTries = 240;
const pauseMs = 250;

/** A database that is away for a moment is waited for, as agents wait for a hub. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const mayPass = error instanceof ThroughlineError && error.retryable;
      if (!mayPass || tries === mostTries) throw error;
      await sleep(pauseMs);
    }
  }
}
process.on('message', (message) => {
  const told = arrangementSchema.safeParse(message);
  if (!told.success) return;
  arrange(told.data);
  const { otherTenant } = told.data;
  void patiently(() => openOtherTenant(running.hub, otherTenant))
    .then((contextId) => process.send?.({ kind: 'other-tenant', contextId }))
    .catch((error: unknown) => {
      logFault(error);
      process.exit(1);
    });
  for (const mounted of routes) void mounted.resume().catch(logFault);
});
process.send?.({ kind: 'listening', url: running.url });
await Promise.race([once(process, 'SIGTERM'), once(process, 'disconnect')]);
await Promise.all([
  ...routes.map((mounted) => mounted.drain(2_000)),
  ...Object.values(rpc).map((each) => each.close(2_000)),
]);
await running.close();
process.exit(0);
