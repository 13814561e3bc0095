import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../program.ts';

let folder: string;
let store: Server;
let origin: string;
const asked: [path: string | undefined, token: unknown][] = [];
const letter = 'My bill is 40 euros.';
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-stores-'));
  store = createServer((request, response) => {
    const token = request.headers['throughline-content-token'];
    asked.push([request.url, token]);
    if (token === 'of-the-store') response.end(letter);
    else response.writeHead(401).end();
  }).listen(0, '127.0.0.1');
  await once(store, 'listening');
  const address = store.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  origin = `http://127.0.0.1:${port}`;
  const agents = 'agents:\n  - { id: reader, module: reader.mjs }\n';
  const guarded = `plainHttpHosts: [127.0.0.1], allowAddresses: [127.0.0.1], ports: [${port}]`;
  const stores = (more: string): string =>
    `${agents}stores: { hosts: [127.0.0.1], ${guarded}, ${more} }\n`;
  const files = {
    'reader.mjs': `export default async (context, io) => {
  const { text } = await io.fetch(context.ContextItems[0].ContextID);
  await io.output('answer', 'text/plain', 'Read: ' + text());
  await io.itemDone('read', 'Read');
}`,
    'read.yaml': `name: read
subtasks:
  - { id: read, name: Read, agent: reader, needs: [letter], attempts: 1,
      produces: [{ name: answer, description: The answer, type: text }], todo: [{ id: read, description: Read }] }
`,
    'plain.yaml': agents,
    'refer.yaml': stores('tokenFiles: { 127.0.0.1: store.token }'),
    'take.yaml': stores('policy: take, tokenFiles: { 127.0.0.1: store.token }'),
    'shut.yaml': stores('policy: refer'),
    'wrong.yaml': stores('policy: copy'),
    'store.token': 'of-the-store\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text, { mode: 0o600 });
});
beforeEach(() => {
  asked.length = 0;
});
afterAll(() => {
  store.close().closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

async function running(agents: string, input: string) {
  const written = { stdout: '', stderr: '' };
  const words = ['run', at('read.yaml'), '--agents', at(agents), '--input', input, '--json'];
  const code = await run([...words, '--data', at('data')], {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    env: {},
  });
  return { code, ...written };
}
const answered = z.looseObject({ texts: z.record(z.string(), z.string()) });
const digestOf = (text: string): string =>
  `sha-256:${createHash('sha256').update(text).digest('hex')}`;

describe('throughline run with what lies in another store', { timeout: 60_000 }, () => {
  it.each([
    ['refer.yaml', 3],
    ['take.yaml', 1],
  ])('hands it over as %s says', async (agents, calls) => {
    const { code, stdout } = await running(agents, `letter=@${origin}/letter.txt`);
    expect(code).toBe(0);
    expect(answered.parse(JSON.parse(stdout)).texts['answer']).toBe(`Read: ${letter}`);
    expect(asked).toEqual(Array.from({ length: calls }, () => ['/letter.txt', 'of-the-store']));
    expect(stdout).not.toContain('of-the-store');
  });

  it('holds it against a digest that follows the URI', async () => {
    const right = `letter=@${origin}/letter.txt#${digestOf(letter)}`;
    expect((await running('refer.yaml', right)).code).toBe(0);
    const wrong = await running('refer.yaml', `letter=@${origin}/letter.txt#${digestOf('x')}`);
    expect(wrong.code).not.toBe(0);
    expect(wrong.stdout + wrong.stderr).toContain('Context item letter is not what its digest');
  });

  it.each([
    ['plain.yaml', () => `letter=@${origin}/letter.txt`, /trusts none but its hub’s/],
    ['refer.yaml', () => 'letter=@https://elsewhere.test/letter.txt', /not on the list/],
    ['refer.yaml', () => 'letter=@file:///etc/passwd', /scheme is not https/],
    ['refer.yaml', () => 'letter=@http://169.254.169.254/x', /in no store that is trusted/],
    ['shut.yaml', () => `letter=@${origin}/letter.txt`, /does not open it/],
    ['refer.yaml', () => `letter=@${origin}/x#sha-256:short`, /64 hexadecimal digits/],
    ['wrong.yaml', () => 'letter=x', /stores\.policy/],
  ])('refuses with %s what it must (%#)', async (agents, input, reason) => {
    const { code, stdout, stderr } = await running(agents, input());
    expect(code).not.toBe(0);
    expect(stdout + stderr).toMatch(reason);
  });
});
