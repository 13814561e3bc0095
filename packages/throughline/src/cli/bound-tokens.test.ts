import { decodeJwt } from 'jose';
import { afterEach, expect, it } from 'vitest';
import { makeProofKey, serveAgent, type AgentHandler, type ProofKey } from '../agent/index.ts';
import { connectA2a } from '../bindings/a2a/index.ts';
import { Hub } from '../hub/index.ts';
import { createMaster, type WorkflowInput } from '../master/index.ts';
import type { Principal } from '../model/principal.ts';
import { openMemoryStore } from '../store/index.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const of = (id: string, role: Principal['role'] = 'agent'): Principal => ({
  tenant: 't',
  id,
  role,
});
const workflow: WorkflowInput = {
  name: 'read',
  subtasks: [
    {
      id: 'read',
      name: 'Read the notes',
      agent: 'worker',
      needs: ['notes', 'terms'],
      todo: [{ id: 'one', description: 'Read' }],
      evaluation: 'relaxed',
      attempts: 1,
    },
  ],
};
/** Reads all of its items. */
const handler: AgentHandler = async (context, io) => {
  const texts: string[] = [];
  for (const { ContextID: id } of context.ContextItems) texts.push((await io.fetch(id)).text());
  await io.itemDone('one', texts.join(' and '));
};

/** A run by a Master with one worker, which may have a key: what it said, and the tokens it was given. */
async function runWith(proofKey: ProofKey | undefined) {
  const hub = await Hub.open({
    store: await openMemoryStore(),
    domainKey: new Uint8Array(32).fill(7),
    origin: 'http://hub.test',
  });
  closing.push(() => hub.close());
  const { key } = await hub.createKey(of('op', 'operator'), { principal: of('priya', 'caller') });
  const served = async (id: string, more: Partial<Parameters<typeof serveAgent>[0]>) => {
    const ports = { ...hub.via(of(id)), ...hub.agent(of(id)) };
    const card = { name: id, description: id, version: '1' };
    const agent = await serveAgent({ card, ports, principal: of(id), ...more });
    closing.push(() => agent.close(0));
    return agent.url;
  };
  const url = await served('worker', { handler, ...(proofKey === undefined ? {} : { proofKey }) });
  const tokens: string[] = [];
  const ports = hub.master(of('desk'));
  const readToken = ports.readToken.bind(ports);
  ports.readToken = async (request) => {
    const token = await readToken(request);
    tokens.push(token);
    return token;
  };
  const master = createMaster({
    ports,
    a2a: hub.via(of('desk')),
    principal: of('desk'),
    name: 'Desk',
    agents: [{ id: 'worker', name: 'Worker', url, behind: 'hub' }],
  });
  const text = { type: 'text', mediaType: 'text/plain', description: 'Text' } as const;
  const offered = ['notes', 'terms'].map((name) => ({ ...text, name, content: `the ${name}` }));
  const desk = await served('desk', {
    onMessage: async (message, io) => {
      const query = message.text;
      const report = await master.run({ taskId: io.taskId, query, workflow, offered });
      const [attempt] = report.subtasks.map(({ keyInformation }) => keyInformation);
      return { text: JSON.stringify(attempt ?? report) };
    },
  });
  const client = await connectA2a({
    url: desk,
    credential: `Bearer ${key}`,
    self: { kind: 'user', name: 'priya' },
  });
  closing.push(() => client.close());
  const answer = await client.send({ parts: [{ kind: 'text', text: 'Read them' }] });
  return { said: answer.text, tokens };
}

it.each([true, false])(
  'a hand-over has one token for all its items, bound where the card has a key (%s)',
  async (hasKey) => {
    const proofKey = hasKey ? await makeProofKey() : undefined;
    const { said, tokens } = await runWith(proofKey);
    expect(said).toContain('the notes and the terms');
    expect(tokens).toHaveLength(1);
    const { cnf } = decodeJwt(tokens[0] ?? '');
    expect(cnf).toEqual(proofKey && { jkt: proofKey.thumbprint });
  },
  30_000,
);
