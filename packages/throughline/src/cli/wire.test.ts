import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cardOf, makeExecutor, serveAgent, type MessageHandler } from '../agent/index.ts';
import { a2aRoutes } from '../bindings/a2a/index.ts';
import { HubClient } from '../client/index.ts';
import type { Principal } from '../model/principal.ts';
import {
  connectAgent,
  localPrincipal,
  startHub,
  type Connection,
  type RunningHub,
} from './wire.ts';

const onMessage: MessageHandler = ({ text }) => ({ text: `You said: ${text}` });
const card = { name: 'Echo', description: 'Says it again', version: '1' };
const principalOf = (id: string, role: Principal['role']): Principal => ({
  tenant: 'local',
  id,
  role,
});

let dataDir: string;
const open: { close(): Promise<unknown> }[] = [];
const kept = <T extends { close(): Promise<unknown> }>(each: T): T => {
  open.unshift(each);
  return each;
};

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'throughline-'));
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  rmSync(dataDir, { recursive: true });
});

const keyFor = async ({ hub }: RunningHub, id: string, role: Principal['role']): Promise<string> =>
  (await hub.createKey(localPrincipal, { principal: principalOf(id, role) })).key;

async function say(url: string, key: string, more: object = {}): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'A2A-Version': '1.0',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: {
        message: {
          messageId: crypto.randomUUID(),
          role: 'ROLE_USER',
          parts: [{ text: 'hi' }],
          ...more,
        },
      },
    }),
  });
  return response.text();
}
const contextIn = (answer: string): string => /"contextId":"([^"]+)"/.exec(answer)?.[1] ?? '';

/** A hub with an agent in its own process. */
const hubWithDesk = async () =>
  kept(
    await startHub({
      dataDir,
      port: 0,
      mounts: (hub, origin) => {
        const principal = principalOf('desk', 'agent');
        const ports = { ...hub.via(principal), ...hub.agent(principal) };
        const description = { ...card, url: `${origin}/agents/desk/` };
        return {
          desk: a2aRoutes({
            card: cardOf(description, { takesContexts: false }),
            ports,
            agent: principal,
            executor: makeExecutor({ ports, principal, onMessage }),
          }),
        };
      },
    }),
  );

const serveEcho = (connection: Connection) =>
  serveAgent({
    card,
    ports: connection.ports,
    principal: principalOf('echo', 'agent'),
    onMessage,
  });

describe('a hub process', () => {
  it('serves an agent that lives in it, card and all', async () => {
    const hub = await hubWithDesk();
    const key = await keyFor(hub, 'priya', 'caller');
    const found = await fetch(`${hub.url}/agents/desk/.well-known/agent-card.json`);
    expect(await found.text()).toContain(`${hub.url}/agents/desk/`);
    const answer = await say(`${hub.url}/agents/desk/`, key);
    expect(answer).toContain('You said: hi');
    const { cases } = await new HubClient({ url: hub.url, key }).cases();
    expect(cases).toMatchObject([{ contextId: contextIn(answer), owner: 'priya' }]);
  });

  it('has agents in processes of their own share its contexts, and refuses strangers there', async () => {
    const hub = await hubWithDesk();
    const [priya, stranger, echoKey] = [
      await keyFor(hub, 'priya', 'caller'),
      await keyFor(hub, 'stranger', 'caller'),
      await keyFor(hub, 'echo', 'agent'),
    ];
    const connection = await connectAgent({ hubUrl: hub.url, key: echoKey });
    const echo = kept(await serveEcho(connection));
    const contextId = contextIn(await say(`${hub.url}/agents/desk/`, priya));
    const more = await say(echo.url, priya, { contextId });
    expect(more).toContain('TASK_STATE_COMPLETED');
    expect(contextIn(more)).toBe(contextId);
    expect(await say(echo.url, stranger, { contextId })).not.toContain('TASK_STATE');
    const view = await new HubClient({ url: hub.url, key: priya }).caseView(contextId);
    expect(view.tasks.map(({ state }) => state)).toEqual(['completed', 'completed']);
    const names = view.participants.map(({ name }) => name);
    expect(view.dialogs).toHaveLength(1);
    expect(names).toHaveLength(3);
  });

  it('keeps its address and key for the commands of its folder', async () => {
    const first = await startHub({ dataDir, port: 0 });
    await first.close();
    const second = kept(await startHub({ dataDir, port: 0 }));
    expect(second.localKey).toBe(first.localKey);
    const client = new HubClient({ url: second.url, key: first.localKey });
    expect(await client.whoAmI()).toEqual(localPrincipal);
  });
});

describe('an agent without a hub', () => {
  it('works on a file of its own, for those with a key of that file, and keeps its tasks', async () => {
    const principal = principalOf('echo', 'agent');
    const connection = await connectAgent({ dataDir, principal });
    const echo = await serveEcho(connection);
    expect(await say(echo.url, 'tlk_unknown')).toContain('no valid key');
    const key = readFileSync(join(dataDir, 'local.key'), 'utf8').trim();
    expect(await say(echo.url, key)).toContain('You said: hi');
    await echo.close();
    await connection.close();
    const again = kept(await connectAgent({ dataDir, principal }));
    const { tasks } = await again.a2a.listTasks({ principal: localPrincipal }, {});
    expect(tasks).toMatchObject([{ agent: 'echo', owner: 'local', state: 'completed' }]);
  });
});
