import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { modelAgent, serveAgent, type AgentHandler, type MessageHandler } from '../agent/index.ts';
import { HubClient } from '../client/index.ts';
import {
  createMaster,
  type KnownAgent,
  type MasterOptions,
  type RunReport,
  type RunRequest,
} from '../master/index.ts';
import type { Principal } from '../model/principal.ts';
import type { WorkflowInput } from '../model/workflow.ts';
import { serveChat, type ChatServer } from '../models/conformance/chat-server.ts';
import { modelFromEnv } from '../models/from-env.ts';
import { localPrincipal, startHub, type RunningHub } from './wire.ts';

/** Words that stand in one place each, which is where nobody who is asked below may read. */
const canaries = {
  'the user’s words to the Master': 'canary-of-the-request',
  'what another agent told the Master': 'canary-of-an-answer',
  'the context of another subtask': 'canary-of-a-sibling',
  'an undisclosed resource': 'canary-of-the-diary',
  'another tenant': 'canary-of-a-stranger',
};

const item = (name: string, content: string) =>
  ({ name, type: 'text', mediaType: 'text/plain', description: `The ${name}`, content }) as const;
const offered = [
  item('terms', `Cash back is 2 %. ${canaries['the context of another subtask']}`),
  item('rows', '100 EUR, paid 1 EUR.'),
  item('diary', canaries['an undisclosed resource']),
];
const words = `Is my cash back right? ${canaries['the user’s words to the Master']}`;

/** One agent looks up, then one with a model writes and a plain one adds up. */
const workflow = {
  name: 'Cash back',
  subtasks: [
    {
      id: 'find',
      name: 'Find the rate',
      agent: 'reader',
      needs: ['terms'],
      produces: [{ name: 'rate', description: 'The rate' }],
      todo: [{ id: 'look', description: 'Look it up' }],
      evaluation: 'relaxed',
    },
    ...(['writer', 'checker'] as const).map((agent) => ({
      id: agent,
      name: 'Say what is due',
      agent,
      dependsOn: ['find'],
      needs: ['rate', 'rows'],
      todo: [{ id: 'say', description: 'Say what is due' }],
      evaluation: 'relaxed' as const,
    })),
  ],
} satisfies WorkflowInput;
type Asked = 'writer' | 'checker';

const looksUp: AgentHandler = async (context, io) => {
  const terms = (await io.fetch(context.ContextItems[0]?.ContextID ?? '')).text();
  await io.output('rate', 'text/plain', /\d+ %/.exec(terms)?.[0] ?? '');
  await io.itemDone('look', canaries['what another agent told the Master']);
};

let dataDir: string;
let hub: RunningHub;
let chat: ChatServer;
let closing: (() => Promise<unknown>)[];
/** All that went to an agent over the wire, by agent: addresses, headers and bodies. */
let wire: Map<string, string>;
let agents: KnownAgent[];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'throughline-'));
  hub = await startHub({ dataDir, port: 0 });
  chat = await serveChat(() =>
    JSON.stringify({
      answers: [{ itemID: 'say', answer: '1 EUR', citations: [] }],
      confidence: 1,
    }),
  );
  closing = [];
  wire = new Map();
  agents = [];
  const env = { THROUGHLINE_MODEL: 'local/writer', THROUGHLINE_MODEL_URL: chat.url };
  const model = await modelFromEnv(env);
  if (model === undefined) throw new Error('The environment names a model.');
  await serve('reader', { handler: looksUp });
  await serve('writer', { handler: modelAgent({ model, instructions: 'You write.' }) });
  await serve('checker', { onMessage: () => ({ text: '1 EUR is missing' }) });
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  await chat[Symbol.asyncDispose]();
  await hub.close();
  rmSync(dataDir, { recursive: true });
});

/** Somebody with a key of their own. */
async function somebody(id: string, role: Principal['role'], tenant = localPrincipal.tenant) {
  const principal: Principal = { tenant, id, role };
  const { key } = await hub.hub.createKey({ ...localPrincipal, tenant }, { principal });
  return { principal, key, client: new HubClient({ url: hub.url, key }) };
}
type Somebody = Awaited<ReturnType<typeof somebody>>;

/** Serves an agent behind an address that notes all that comes, and is what its card names. */
async function serve(
  id: string,
  does: { handler: AgentHandler } | { onMessage: MessageHandler },
): Promise<void> {
  const { principal, client } = await somebody(id, 'agent');
  const card = { name: id, description: id, version: '1' };
  const behind = await serveAgent({ card, ports: client.ports(), principal, ...does });
  const front = createServer((incoming, outgoing) => {
    const pass = async (): Promise<void> => {
      const { method = 'GET', url = '/', headers } = incoming;
      const body = await text(incoming);
      const said = `${method} ${url} ${JSON.stringify(headers)}\n${body}\n`;
      wire.set(id, `${wire.get(id) ?? ''}${said}`);
      const passed = request(new URL(url, behind.url), { method, headers });
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      passed.once('response', resolve).once('error', reject).end(body);
      const answer = await promise;
      const isCard = method === 'GET';
      outgoing.writeHead(answer.statusCode ?? 502, {
        'content-type': answer.headers['content-type'] ?? '',
      });
      if (isCard) outgoing.end((await text(answer)).replaceAll(behind.url, at));
      else answer.pipe(outgoing);
    };
    pass().catch(() => outgoing.destroy());
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const address = front.address();
  const at = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  closing.push(async () => {
    front.closeAllConnections();
    front.close();
    await behind.close(100);
  });
  agents.push({ id, name: id, url: at, behind: 'hub' });
}

const answerSchema = z.object({ result: z.object({ task: z.object({ contextId: z.string() }) }) });

/** A message to an agent; gives the context that it opened. */
async function say(to: string, said: string, { key }: Somebody): Promise<string> {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: said }] };
  const response = await fetch(to, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  });
  return answerSchema.parse(await response.json()).result.task.contextId;
}

type Asking = Partial<MasterOptions> & Partial<Pick<RunRequest, 'workflow' | 'offered'>>;

interface Case {
  readonly contextId: string;
  readonly owner: Somebody;
  readonly report?: RunReport;
}

/** The owner's request to a desk with a Master, and what came of it. */
async function ask(asking: Asking): Promise<Required<Case>> {
  const { workflow: plan = workflow, offered: items = offered, ...options } = asking;
  const owner = await somebody('owner', 'caller');
  const desk = await somebody('desk', 'agent');
  const master = createMaster({
    ports: desk.client.master(),
    a2a: desk.client,
    principal: desk.principal,
    name: 'Desk',
    agents,
    ...options,
  });
  const { promise, resolve } = Promise.withResolvers<RunReport>();
  const front = await serveAgent({
    card: { name: 'Desk', description: 'Desk', version: '1' },
    ports: desk.client.ports(),
    principal: desk.principal,
    onMessage: async ({ text: query }, { taskId }) => {
      const report = await master.run({ taskId, query, workflow: plan, offered: items });
      resolve(report);
      return { text: report.status };
    },
  });
  closing.push(() => front.close(100));
  const contextId = await say(front.url, words, owner);
  return { contextId, owner, report: await promise };
}

/** What somebody of another tenant says to an agent of theirs, which puts it out. */
async function elsewhere(): Promise<Case> {
  const tenant = 'elsewhere';
  const [owner, agent] = [
    await somebody('owner', 'caller', tenant),
    await somebody('writer', 'agent', tenant),
  ];
  const served = await serveAgent({
    card: { name: 'Writer', description: 'Is none of ours', version: '1' },
    ports: agent.client.ports(),
    principal: agent.principal,
    onMessage: async ({ text: said }, io) => {
      await io.output('rate', 'text/plain', said);
      return { text: said };
    },
  });
  closing.push(() => served.close(100));
  return { owner, contextId: await say(served.url, canaries['another tenant'], owner) };
}

/** Where a case, what it holds and what was handed over in it would be read. */
async function pathsOf({ contextId, owner, report }: Case): Promise<string[]> {
  const view = await owner.client.caseView(contextId);
  const cases = [...new Set([contextId, ...view.activities.map(({ id }) => id)])].map(
    (id) => `/cases/${id}`,
  );
  return [
    ...cases.flatMap((each) => [each, `${each}/timeline`, `${each}/export`]),
    ...view.handovers.flatMap(({ task }) => cases.map((each) => `${each}/handovers/${task}/texts`)),
    ...view.resources.map(({ id }) => `/content/${id}`),
    ...(report === undefined ? [] : [`/runs/${report.runId}`]),
  ];
}

/** All that an agent can open with what it has: its key, who calls it, its right to read. */
async function openedBy(id: Asked, paths: readonly string[]): Promise<string[]> {
  const { key } = await somebody(id, 'agent');
  const sent = wire.get(id) ?? '';
  const [, call = ''] = /"authorization":"Bearer ([^"]+)"/.exec(sent) ?? [];
  const [, right = ''] = /"token":"(eyJ[^"]+)"/.exec(sent) ?? [];
  const own = { authorization: `Bearer ${key}` };
  const shown = [
    own,
    { authorization: `Bearer ${call}` },
    { authorization: `Bearer ${right}` },
    { ...own, 'throughline-caller': `Bearer ${call}` },
    { ...own, 'throughline-content-token': right },
  ];
  const opened: string[] = [];
  for (const path of ['/cases', '/runs?open=true', ...paths]) {
    const answers = shown.map(async (headers) => {
      const response = await fetch(`${hub.url}${path}`, { headers });
      const body = await response.text();
      if (response.ok) opened.push(body);
    });
    await Promise.all(answers);
  }
  return opened;
}

/** Breaks isolation as an owner may. */
const openToChecker = async ({ owner, contextId }: Case) =>
  owner.client.grant(contextId, { grantee: 'checker', operations: ['get', 'list'] });

/** What reached each agent that has nothing to do with the canaries, by how it did. */
async function reached(
  asking: Asking = {},
  before?: (there: Case) => Promise<unknown>,
): Promise<Record<string, string>> {
  const there = await elsewhere();
  const here = await ask(asking);
  expect(here.report.status).toBe('completed');
  await before?.(here);
  const paths = [...(await pathsOf(here)), ...(await pathsOf(there))];
  const prompts = chat.requests.map(({ system, prompt }) => `${system}\n${prompt}`).join('\n');
  const of = async (id: Asked) => ({
    [`${id} was sent`]: wire.get(id) ?? '',
    [`${id} can open`]: (await openedBy(id, paths)).join('\n'),
  });
  return { ...(await of('writer')), ...(await of('checker')), 'a model was asked': prompts };
}

const leaksIn = (all: Readonly<Record<string, string>>): string[] =>
  Object.entries(all).flatMap(([how, said]) =>
    Object.entries(canaries).flatMap(([place, canary]) =>
      said.includes(canary) ? [`${how}: ${place}`] : [],
    ),
  );

describe('what an agent has nothing to do with', () => {
  it('is not in its prompt, nor in what it can open, nor in what goes over the wire', async () => {
    const all = await reached();
    expect(leaksIn(all)).toEqual([]);
    // It was looked for where there is something to find.
    const row = '100 EUR, paid 1 EUR.';
    expect(
      Object.entries(all)
        .filter(([, said]) => said.includes(row))
        .map(([how]) => how),
    ).toEqual(['writer can open', 'checker was sent', 'a model was asked']);
    expect(all['writer was sent']).toContain('"AgentID":"writer"');
  });

  it('is found, each of it, when a Master hands it out', async () => {
    const told = [words, canaries['what another agent told the Master']].join(' ');
    const found = leaksIn(
      await reached({
        workflow: {
          ...workflow,
          subtasks: workflow.subtasks.map((each) =>
            each.id === 'find' ? each : { ...each, todo: [{ id: 'say', description: told }] },
          ),
        },
        selector: ({ needs }, all) =>
          needs.includes('rate') ? all.map(({ name }) => name) : needs,
        offered: [...offered, item('theirs', canaries['another tenant'])],
      }),
    );
    for (const place of Object.keys(canaries)) {
      expect(found).toContain(`a model was asked: ${place}`);
      expect(found).toContain(`checker was sent: ${place}`);
    }
    expect(found).toContain('writer was sent: the user’s words to the Master');
    expect(found).toContain('writer can open: an undisclosed resource');
  });

  it('is found when the case is opened to it', async () => {
    const found = leaksIn(await reached({}, openToChecker));
    expect(found).toContain('checker can open: the user’s words to the Master');
    expect(found.some((each) => each.startsWith('writer'))).toBe(false);
  });
});
