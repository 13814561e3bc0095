import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { HubClient } from '../client/index.ts';
import { commandsIn, makeCase, type MadeCase } from './conformance.ts';
import { localPrincipal, startHub, type RunningHub } from './wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'throughline-'));
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const issuer = 'https://login.example';
const audience = 'throughline';
const kid = 'one';

let hub: RunningHub;
let keys: Server;
let asked = 0;
let made: MadeCase;
/** What an operator's log would hold. */
const logged: string[] = [];

const { tell, tellJson } = commandsIn(folder);

const saidIn = (json: unknown): string =>
  z.object({ assertions: z.array(z.string()).min(1) }).parse(json).assertions[0] ?? '';

async function serveKeys(): Promise<string> {
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' };
  keys = createServer((_, response) => {
    asked += 1;
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  keys.listen(0, '127.0.0.1', () => resolve(undefined));
  await promise;
  const address = keys.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/jwks.json`;
}

beforeAll(async () => {
  const jwksUrl = await serveKeys();
  hub = await startHub({
    dataDir: folder,
    port: 0,
    jwt: { issuer, audience, jwksUrl, defaultTenant: 'local' },
    onFailure: ({ path, error }) => logged.push(path, String(error)),
    onSwept: (swept) => logged.push(JSON.stringify(swept)),
  });
  const keyOf = async (id: string, role: 'agent' | 'caller') =>
    (await hub.hub.createKey(localPrincipal, { principal: { tenant: 'local', id, role } })).key;
  const deskKey = await keyOf('desk', 'agent');
  const client = (key: string) => new HubClient({ url: hub.url, key });
  made = await makeCase({
    desk: client(deskKey),
    reader: client(await keyOf('reader', 'agent')),
    deskKey,
    priyaKey: await keyOf('priya', 'caller'),
  });
});
afterAll(async () => {
  await hub.close();
  keys.close();
  rmSync(folder, { recursive: true });
});

describe('a case on the command line', () => {
  it('is filed under labels, and found by them, by words and by who takes part', async () => {
    const { out } = await tell('case', 'label', made.contextId, 'ticket=1234');
    expect(out).toMatch(new RegExp(`^${made.contextId} has ticket=1234 \\(asr_\\w{26}\\)\\.\\n$`));
    for (const words of [
      ['--label', 'ticket=1234'],
      ['--label', 'ticket'],
      ['CASH', 'back'],
      ['--participant', 'priya'],
    ]) {
      expect((await tell('case', 'search', ...words)).out).toContain(made.contextId);
    }
    for (const words of [['--label', 'ticket=9'], ['nothing'], ['--participant', 'nobody']]) {
      expect((await tell('case', 'search', ...words)).out).toBe('No case fits.\n');
    }
    expect((await tell('case', 'show', made.contextId)).out).toMatch(/labels +ticket=1234/);
    await tell('case', 'label', made.contextId, '--remove', 'ticket');
    expect((await tell('case', 'show', made.contextId)).out).not.toContain('ticket=1234');
  });

  it('is closed, opened again, and taken back to what it was', async () => {
    const closed = saidIn(await tellJson('case', 'close', made.contextId));
    expect((await tell('case', 'show', made.contextId)).out).toContain(
      `Case ${made.contextId}  closed`,
    );
    expect((await tell('case', 'close', made.contextId)).out).toContain('was so already');
    await tell('case', 'undo', made.contextId, closed);
    expect((await tell('case', 'show', made.contextId)).out).toContain(
      `Case ${made.contextId}  open`,
    );
    const again = await tell('case', 'undo', made.contextId, closed);
    expect([again.exitCode, again.err]).toEqual([1, expect.stringContaining('undone already')]);
    await tell('case', 'close', made.contextId);
    expect((await tell('case', 'reopen', made.contextId, '--cause', closed)).exitCode).toBe(0);
    const { out } = await tell('case', 'show', made.contextId, '--timeline');
    expect(out).toContain('opened again');
    expect(out).toContain('[supervised]');
  });

  it('takes back what was given out to read of it', async () => {
    const desk = hub.hub.master({ tenant: 'local', id: 'desk', role: 'agent' });
    const { resources, activities } = await hub.hub.caseView(localPrincipal, made.contextId);
    const ref = await desk.putContent({
      activity: activities[0]?.id ?? '',
      resource: desk.newId('resource'),
      mediaType: 'text/plain',
      bytes: Buffer.from(`beside ${resources.length} others`),
    });
    const reader = hub.hub.agent({ tenant: 'local', id: 'reader', role: 'agent' });
    const token = await desk.readToken({ uris: [ref.uri], audience: 'reader', seconds: 60 });
    await expect(reader.getContent(ref.uri, token)).resolves.toBeDefined();
    const { out } = await tell('case', 'revoke-tokens', made.contextId);
    expect(out).toContain('opens anything any more');
    await expect(reader.getContent(ref.uri, token)).rejects.toMatchObject({ code: 'not-found' });
    expect((await tell('case', 'revoke-tokens', 'ctx_unknown')).exitCode).toBe(1);
  });

  it('is corrected by hand, and that is taken back', async () => {
    const said = saidIn(await tellJson('case', 'correct', made.contextId, made.stuck, 'failed'));
    expect((await tell('case', 'show', made.contextId)).out).toMatch(
      /failed {2}Ask her which purchase|says failed/,
    );
    expect((await tell('case', 'undo', made.contextId, said)).exitCode).toBe(0);
    const edge = [
      'case',
      'correct',
      made.contextId,
      made.stuck,
      made.run,
      '--relate',
      'related-to',
    ];
    expect((await tell(...edge)).exitCode).toBe(0);
    const wrong = await tell('case', 'correct', made.contextId, made.stuck, 'flying');
    expect(wrong.exitCode).toBe(2);
  });

  it('has a Dialog bound anew, and says because of what', async () => {
    const timeline = async () => (await tell('case', 'show', made.contextId, '--timeline')).out;
    const shown = z
      .object({ case: z.object({ dialogs: z.array(z.object({ id: z.string() })) }) })
      .parse(await tellJson('case', 'show', made.contextId));
    const dialog = shown.case.dialogs[0]?.id ?? '';
    const correct = ['case', 'correct', made.contextId, dialog, 'elsewhere-9'];
    const first = saidIn(await tellJson(...correct, '--rebind'));
    expect((await tell('case', 'show', made.contextId)).out).toContain('a2a elsewhere-9');
    expect(await timeline()).toContain('is now a2a elsewhere-9');
    await tell('case', 'correct', made.contextId, made.stuck, 'unresolved', '--cause', first);
    expect(await timeline()).toMatch(/has an outcome that nobody knows because of #\d+/);
    expect((await tell('case', 'show', made.contextId)).out).toContain('nobody knows how it ended');
    await tell('case', 'correct', made.contextId, made.stuck, 'resolved');
    expect((await tell('case', 'show', made.contextId)).out).not.toContain('nobody knows how');
    expect((await tell('case', 'undo', made.contextId, first)).exitCode).toBe(0);
  });

  it('is split and merged again', async () => {
    const split = z
      .object({ contextId: z.string() })
      .parse(await tellJson('case', 'split', made.contextId, '--about', 'The fee'));
    const shown = await tell('case', 'show', split.contextId);
    expect(shown.out).toContain('The fee');
    expect((await tell('case', 'merge', split.contextId, made.contextId)).exitCode).toBe(0);
    const whole = await tell('case', 'show', made.contextId);
    expect(whole.out).toContain('2 activities');
    expect(whole.out).toContain('The fee');
  });

  it('is erased only when one means it, and then says so everywhere', async () => {
    const doubtful = await tell('case', 'erase', made.contextId);
    expect([doubtful.exitCode, doubtful.err]).toEqual([2, expect.stringContaining('--yes')]);
    const { case: view } = await tellJson('case', 'show', made.contextId);
    const { activity } = z
      .object({ summary: z.looseObject({ activity: z.string() }) })
      .parse(view).summary;
    expect((await tell('case', 'erase', made.contextId, '--yes')).exitCode).toBe(0);
    expect((await tell('case', 'show', made.contextId)).exitCode).toBe(1);
    const shown = await tell('case', 'show', activity);
    expect(shown.out).toContain('erased: what people wrote in it is destroyed');
    expect(shown.out).not.toContain('cash back');
    const { out } = await tell('case', 'show', activity, '--timeline');
    expect(out.trimEnd().split('\n').at(-1)).toContain('erased');
    expect(out).not.toContain('cash back');
    const files = readdirSync(folder).filter((name) => name.startsWith('hub.sqlite'));
    expect(files).toContain('hub.sqlite');
    for (const text of [...files.map((name) => readFileSync(join(folder, name))), ...logged]) {
      expect(text.includes('cash back')).toBe(false);
      expect(text.includes('run-1')).toBe(false);
    }
  });
});

describe('quotas on the command line', () => {
  it('are shown and set, one by one', async () => {
    expect((await tell('quota', 'show')).out).toMatch(/contexts +\d+ +no limit +no limit/);
    await tell('quota', 'set', '--contexts', '100', '--keys', '50');
    await tell('quota', 'set', '--each-principal', '--contexts', '10');
    const { out } = await tell('quota', 'set', '--keys', 'none');
    expect(out).toMatch(/contexts +\d+ +100 +10/);
    expect(out).toMatch(/keys +\d+ +no limit +no limit/);
    expect((await tell('quota', 'show', '--principal', 'priya')).out).toContain('THIS ONE');
  });
});

const token = (claims: Record<string, unknown> = {}) =>
  new SignJWT({ role: 'operator', ...claims })
    .setProtectedHeader({ alg: 'EdDSA', kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject('boss')
    .setExpirationTime('5m')
    .sign(privateKey);

const start = (jwt: object) =>
  startHub({
    dataDir: mkdtempSync(join(folder, 'other-')),
    port: 0,
    jwt: { issuer, audience, ...jwt },
  });

describe('tokens of an issuer', () => {
  it('open the API like a key does, with the keys that the issuer publishes', async () => {
    const client = new HubClient({ url: hub.url, key: await token() });
    expect(await client.whoAmI()).toEqual({ tenant: 'local', id: 'boss', role: 'operator' });
    expect(await client.quotas()).toMatchObject({ used: {} });
    expect(asked).toBe(1);
    const file = join(folder, 'token.key');
    writeFileSync(file, await token(), { mode: 0o600 });
    expect((await tell('doctor', '--key-file', file)).out).toContain('boss, operator of local');
  });

  it('open nothing when they are of somebody else', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const forged = await new SignJWT({ role: 'operator' })
      .setProtectedHeader({ alg: 'EdDSA', kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('boss')
      .setExpirationTime('5m')
      .sign(other);
    const client = new HubClient({ url: hub.url, key: forged });
    await expect(client.whoAmI()).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('are not taken with settings that can’t be', async () => {
    for (const jwt of [
      {},
      { jwksUrl: 'http://keys.example/' },
      { jwksUrl: 'nonsense' },
      { jwksFile: join(folder, 'missing.json') },
      { jwksFile: join(folder, 'local.key') },
      { jwksUrl: 'https://keys.example/', jwksFile: 'x' },
    ]) {
      await expect(start(jwt)).rejects.toMatchObject({ code: 'invalid' });
    }
  });
});
