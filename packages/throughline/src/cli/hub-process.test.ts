import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { HubClient } from '../client/index.ts';
import { caseViewSchema } from '../model/case-view.ts';
import { commandsIn, makeCase, type Ended, type MadeCase } from './conformance.ts';

// Processes take their time to start on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'throughline-'));
const inFolder = ['--data', folder];

/** Starts a command; `line` is its first line on stdout. */
function start(...words: string[]) {
  const child: ChildProcess = spawn(process.execPath, [main, ...words], {
    env: { ...process.env, NO_COLOR: '', FORCE_COLOR: undefined, THROUGHLINE_DATA: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  const line = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<Ended>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    if (out.includes('\n')) line.resolve(out.slice(0, out.indexOf('\n')));
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.on('close', (exitCode) => {
    line.reject(new Error(`ended with ${exitCode}: ${err}`));
    ended.resolve({ exitCode, out, err });
  });
  line.promise.catch(() => undefined);
  return { child, line: line.promise, ended: ended.promise };
}

const { tell, tellJson } = commandsIn(folder);

const upSchema = z.object({ version: z.literal(1), url: z.url(), keyFile: z.string() });

async function serve() {
  const hub = start('serve', '--port', '0', '--json', ...inFolder);
  return { ...hub, ...upSchema.parse(JSON.parse(await hub.line)) };
}

let hub: Awaited<ReturnType<typeof serve>>;
let made: MadeCase;
let priyaKeyFile: string;

async function makeKey(id: string, role: string): Promise<string> {
  const { key } = await tellJson('key', 'create', id, '--role', role);
  return z.string().parse(key);
}

beforeAll(async () => {
  hub = await serve();
  const deskKey = await makeKey('desk', 'agent');
  const readerKey = await makeKey('reader', 'agent');
  priyaKeyFile = join(folder, 'priya.key');
  await tell('key', 'create', 'priya', '--out', priyaKeyFile);
  const client = (key: string) => new HubClient({ url: hub.url, key });
  made = await makeCase({
    desk: client(deskKey),
    reader: client(readerKey),
    deskKey,
    priyaKey: readFileSync(priyaKeyFile, 'utf8').trim(),
  });
});

afterAll(async () => {
  hub.child.kill('SIGTERM');
  await hub.ended;
  rmSync(folder, { recursive: true, force: true });
});

describe('a served hub', () => {
  it('keeps its keys and its database from everybody else', () => {
    for (const name of ['domain.key', 'local.key', 'hub.sqlite', 'hub.json', 'priya.key']) {
      expect({ name, mode: statSync(join(folder, name)).mode & 0o777 }).toEqual({
        name,
        mode: 0o600,
      });
    }
    expect(statSync(folder).mode & 0o077).toBe(0);
  });

  it('answers a doctor', async () => {
    const { checks } = await tellJson('doctor');
    expect(checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'hub-answers', ok: true, saw: hub.url }),
        { name: 'key-is-valid', ok: true, state: 'ok', saw: 'local, operator of local' },
        expect.objectContaining({ name: 'hub-version', state: 'ok' }),
        expect.objectContaining({ name: 'clock', state: 'ok' }),
        expect.objectContaining({ name: 'store', state: 'ok' }),
      ]),
    );
  });

  it('gives addresses of its page, each of which lets a browser in once', async () => {
    const { url, expiresAt } = await tellJson('page');
    const [address, code] = z.string().parse(url).split('/#code=');
    expect(address).toBe(hub.url);
    expect(Date.parse(z.string().parse(expiresAt))).toBeGreaterThan(Date.now());
    const signIn = () =>
      fetch(`${hub.url}/sessions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: hub.url },
        body: JSON.stringify({ code }),
      });
    expect((await signIn()).status).toBe(204);
    expect((await signIn()).status).toBe(401);
  });

  it('refuses a second one on its port, and says what to do', async () => {
    const { port } = new URL(hub.url);
    const other = mkdtempSync(join(tmpdir(), 'throughline-'));
    const { exitCode, err } = await start('serve', '--port', port, '--data', other).ended;
    rmSync(other, { recursive: true });
    expect(exitCode).toBe(3);
    expect(err).toContain('choose another port');
  });
});

describe('a command as a process of its own', () => {
  it('writes its result to stdout, errors to stderr, and ends with the code that tells them apart', async () => {
    const shown = await start('case', 'show', made.contextId, ...inFolder).ended;
    expect(shown).toEqual(await tell('case', 'show', made.contextId));
    expect(shown).toMatchObject({ exitCode: 0, err: '' });
    const missing = await start('case', 'show', 'nothing', ...inFolder).ended;
    expect(missing).toMatchObject({ exitCode: 1, out: '' });
  });
});

describe('a reader that has seen enough', () => {
  it('ends a command without a word', async () => {
    const { child, ended } = start('--help');
    child.stdout?.destroy();
    expect(await ended).toEqual({ exitCode: 0, out: '', err: '' });
  });
});

describe('case list', () => {
  it('has the case with its whole id', async () => {
    const { out } = await tell('case', 'list');
    const [titles, line] = out.split('\n');
    expect(titles).toMatch(/^CASE +CHANGED +TASKS +STUCK +OWNER +ABOUT$/);
    expect(line).toContain(made.contextId);
    expect(line).toMatch(/ 3 +1: support desk +priya +My cash back looks wrong/);
  });

  it('has those alone in which something is stuck, with whose step it is', async () => {
    const { out } = await tell('case', 'list', '--stuck');
    expect(out).toContain(made.contextId);
    expect(await tellJson('case', 'search', 'cash', '--stuck')).toMatchObject({
      cases: [{ contextId: made.contextId, whose: [{ name: 'support desk' }] }],
    });
    expect((await tell('case', 'search', 'lunch', '--stuck')).out).toBe('No case fits.\n');
  });

  it('gives programs the summaries', async () => {
    expect(await tellJson('case', 'list')).toMatchObject({
      version: 1,
      more: false,
      cases: [{ contextId: made.contextId, owner: 'priya', stuck: 1, counts: { tasks: 3 } }],
    });
  });

  it('is empty for a stranger', async () => {
    await tell('key', 'create', 'stranger', '--out', join(folder, 'stranger.key'));
    const words = ['case', 'list', '--key-file', join(folder, 'stranger.key')];
    expect((await tell(...words)).out).toBe('No cases yet.\n');
  });
});

describe('case show', () => {
  it('is a tree: what was delegated hangs below the task it came from, stuck first', async () => {
    const { out, exitCode } = await tell('case', 'show', made.contextId);
    expect(exitCode).toBe(0);
    const at = (text: string): number => {
      const found = out.indexOf(text);
      if (found === -1) throw new Error(`${text} is not in\n${out}`);
      return found;
    };
    expect(at('Stuck: 1 task')).toBeLessThan(at('Activity act_'));
    expect(out).toContain(`${made.stuck} waits for input`);
    expect(out).toMatch(/└─ Dialog dlg_\w{26} active {2}priya → support desk/);
    expect(out).toContain(`└─ Task ${made.run} in-progress  My cash back looks wrong`);
    expect(out).toMatch(/\n {6}├─ Dialog dlg_\w{26} \w+ {2}support desk → policy reader/);
    expect(out).toContain(`Task ${made.subtask} completed  Find the cash back terms`);
    expect(out.replaceAll('\u00a0', ' ')).toContain(
      'tokens    812 tokens sent, 8.9 % of the full history’s 9,120',
    );
    expect(out).toContain('140 tokens returned');
    expect(out).toContain('compressed where it was read, from 700 tokens to 175');
    expect(out).toMatch(/model {5}local\/reader\n[ │]+300 tokens in, 90 out, cost 0\.0021/);
    expect(out).toContain('withheld  date of birth, card code');
    expect(out).toContain('out       Gold card terms, section 4 · finding');
    expect(out).toContain('in        Gold card terms, section 4 · terms');
  });

  it('lets nobody’s text move the cursor or colour the screen', async () => {
    const { out } = await tell('case', 'show', made.contextId);
    expect(out).toContain('日本語');
    expect(out).not.toContain('\u001b');
  });

  it('is the view as JSON', async () => {
    const { case: view } = await tellJson('case', 'show', made.contextId);
    const { summary, tasks } = caseViewSchema.parse(view);
    expect(summary.contextId).toBe(made.contextId);
    expect(tasks.map(({ id }) => id)).toContain(made.stuck);
  });

  it('is found by the Activity’s id, too', async () => {
    const { case: view } = await tellJson('case', 'show', made.contextId);
    const { activity } = caseViewSchema.parse(view).summary;
    expect(await tellJson('case', 'show', activity)).toMatchObject({
      case: { summary: { contextId: made.contextId } },
    });
  });

  it('has a timeline in the order of the numbers', async () => {
    const { out } = await tell('case', 'show', made.contextId, '--timeline');
    const numbers = [...out.matchAll(/^ *(\d+) {2}\d\d:\d\d:\d\d {2}/gm)].map((each) =>
      Number(each[1]),
    );
    expect(numbers.length).toBe(out.trimEnd().split('\n').length);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(out).toContain(`${made.subtask} is completed`);
    expect(out).toContain(`${made.stuck} is awaiting (input)`);
  });

  it('says who takes part in which role', async () => {
    const { out } = await tell('case', 'show', made.contextId, '--activity');
    expect(out).toMatch(/priya +user +AIE/);
    expect(out).toMatch(/support desk +agent +FNE/);
    expect(out).toMatch(/policy reader +agent +AA/);
    expect(out).toMatch(/tokens +1 hand-over: 812 tokens sent, 8\.9.% of the full history’s 9,120/);
    expect(out).toMatch(/\nreader +812 +9,120 +140 +700 → 175 +390 +0\.0021\n/);
  });

  it.each(['ctx_00000000000000000000000000', 'unknown', 'tsk_00000000000000000000000000'])(
    'ends with 1 for %s, which does not exist',
    async (id) => {
      const { exitCode, err, out } = await tell('case', 'show', id);
      expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
      expect(err).toContain('does not exist or is not open to you');
    },
  );

  it('answers a stranger as if there were none', async () => {
    const key = ['--key-file', join(folder, 'stranger.key')];
    const { exitCode, err } = await tell('case', 'show', made.contextId, ...key);
    expect(exitCode).toBe(1);
    const missing = await tell('case', 'show', 'ctx_00000000000000000000000000', ...key);
    expect(err.replace(made.contextId, '')).toBe(
      missing.err.replace('ctx_00000000000000000000000000', ''),
    );
  });

  it.each(['../etc/passwd', 'a\nb', 'x'.repeat(1_000), ''])(
    'ends with 2 for %j, which is no id',
    async (id) => {
      expect((await tell('case', 'show', id)).exitCode).toBe(2);
    },
  );
});

describe('explain', () => {
  it('goes from an object up to the case', async () => {
    const { out } = await tell('explain', made.found);
    expect(out).toContain(`${made.found}  Gold card terms, section 4`);
    expect(out).toContain('↓ output-of  finding');
    expect(out).toContain('↓ delegated-from');
    expect(out).toContain('My cash back looks wrong');
  });

  it('takes the protocol’s own task id', async () => {
    expect(await tellJson('explain', 'run-1')).toMatchObject({ explanation: { from: made.run } });
  });

  it('finds the way between two', async () => {
    const { explanation } = await tellJson('explain', made.subtask, made.stuck);
    expect(explanation).toMatchObject({ from: made.subtask, to: made.stuck });
  });
});

describe('grants', () => {
  it('are given by the owner, listed and revoked', async () => {
    const key = ['--key-file', priyaKeyFile];
    const { grant } = await tellJson(
      'grant',
      'create',
      made.contextId,
      '--to',
      'second-desk',
      ...key,
    );
    const { id } = z.object({ id: z.string() }).parse(grant);
    const listed = await tell('grant', 'list', made.contextId, ...key);
    expect(listed.out).toMatch(new RegExp(`${id} +second-desk +open end +get, list, send`));
    expect((await tell('grant', 'revoke', id, ...key)).exitCode).toBe(0);
    expect((await tell('grant', 'list', made.contextId, ...key)).out).toContain('revoked');
  });

  it('are not given by others', async () => {
    const key = ['--key-file', join(folder, 'stranger.key')];
    const { exitCode } = await tell('grant', 'create', made.contextId, '--to', 'stranger', ...key);
    expect(exitCode).toBe(1);
  });
});

describe('keys', () => {
  it('end with 4 once they are revoked, or are none', async () => {
    const file = join(folder, 'spare.key');
    const { id } = await tellJson('key', 'create', 'spare', '--out', file);
    const use = () => tell('case', 'list', '--key-file', file);
    expect((await use()).exitCode).toBe(0);
    await tell('key', 'revoke', z.string().parse(id));
    expect((await use()).exitCode).toBe(4);
    writeFileSync(file, 'nonsense', { mode: 0o600 });
    expect((await use()).exitCode).toBe(4);
  });

  it('are not read from a file that others may read', async () => {
    const file = join(folder, 'open.key');
    await tell('key', 'create', 'open', '--out', file);
    chmodSync(file, 0o644);
    const { exitCode, err } = await tell('case', 'list', '--key-file', file);
    expect(exitCode).toBe(2);
    expect(err).toContain(`chmod 600 ${file}`);
  });

  it('are not shown again', async () => {
    const { out } = await tell('key', 'list');
    expect(out).not.toContain('tlk_');
    expect(out).toMatch(/priya +caller/);
  });
});

describe('ending a hub', () => {
  it('ends well at SIGTERM, keeps everything for the next start, also after a kill', async () => {
    hub.child.kill('SIGTERM');
    expect((await hub.ended).exitCode).toBe(0);
    const gone = await tell('case', 'list');
    expect(gone.exitCode).toBe(3);
    expect(gone.err).toContain('throughline serve');
    expect(await tell('doctor')).toMatchObject({
      exitCode: 3,
      out: expect.stringContaining('FAIL  hub-answers'),
      err: expect.stringContaining('1 of 9 checks failed'),
    });
    const localKey = readFileSync(join(folder, 'local.key'), 'utf8');
    hub = await serve();
    expect((await tell('case', 'show', made.contextId)).exitCode).toBe(0);
    hub.child.kill('SIGKILL');
    await hub.ended;
    hub = await serve();
    expect((await tell('case', 'show', made.contextId)).exitCode).toBe(0);
    expect(readFileSync(join(folder, 'local.key'), 'utf8')).toBe(localKey);
  });

  it('does not start over a database whose key is gone, and changes nothing', async () => {
    hub.child.kill('SIGTERM');
    await hub.ended;
    const file = join(folder, 'domain.key');
    const key = readFileSync(file, 'utf8');
    rmSync(file);
    const { exitCode, err } = await start('serve', '--port', '0', ...inFolder).ended;
    expect(exitCode).toBe(1);
    expect(err).toContain('put the key file back');
    writeFileSync(file, key, { mode: 0o600 });
    hub = await serve();
    expect((await tell('case', 'show', made.contextId)).exitCode).toBe(0);
  });
});
