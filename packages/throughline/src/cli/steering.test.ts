import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { freePort } from '../../test/free-port.ts';
import { connectA2a, type A2aClient, type PeerTask } from '../bindings/a2a/index.ts';
import { run } from './program.ts';
import { localPrincipal, startHub, type RunningHub } from './wire.ts';

// Processes take their time to start on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const main = fileURLToPath(new URL('main.ts', import.meta.url));

/** Tells what it was given, and is at work as long as there is a file. */
const finder = `import { existsSync } from 'node:fs';
import { join } from 'node:path';
export default async function (context, io) {
  const items = context.ContextItems.map(({ ContextID }) => io.fetch(ContextID));
  const texts = (await Promise.all(items)).map((each) => each.text());
  console.error('given ' + texts.join(' + '));
  while (existsSync(join(import.meta.dirname, 'hold'))) await new Promise((r) => setTimeout(r, 50));
  await io.output('facts', 'text/plain', texts.join(' + '));
  await io.itemDone('read', 'Found some facts');
}`;
const writer = `export async function handler(context, io) {
  const facts = context.ContextItems.find(({ Description }) => Description === 'Facts');
  const tone = await io.ask('Formal or friendly?');
  const text = (await io.fetch(facts.ContextID)).text();
  await io.output('answer', 'text/plain', tone + ': ' + text);
  await io.itemDone('draft', 'Drafted');
}`;
const agents = `agents:
  - { id: finder, module: finder.mjs }
  - { id: writer, module: writer.mjs }
`;
const find = `  - { id: find, name: Find the facts, agent: finder, needs: [letter],
      produces: [{ name: facts, description: Facts, type: text }], todo: [{ id: read, description: Read }] }
`;
const write = `  - { id: write, name: Write the answer, agent: writer, dependsOn: [find], needs: [facts],
      produces: [{ name: answer, description: The answer, type: text }], todo: [{ id: draft, description: Draft }] }
`;

let folder: string;
let hub: RunningHub;
const at = (name: string): string => join(folder, name);
const open: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-steering-'));
  const files = {
    'finder.mjs': finder,
    'writer.mjs': writer,
    'agents.yaml': agents,
    'find.yaml': `name: Find\nsubtasks:\n${find}`,
    'answer.yaml': `name: Answer letters\nsubtasks:\n${find}${write}`,
    hold: '',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
  hub = await startHub({ dataDir: at('data'), port: 0, workers: { leaseMs: 2_000 } });
});
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
  await hub.close();
  rmSync(folder, { recursive: true });
});

const release = (): void => rmSync(at('hold'), { force: true });

/** A command in a process of its own, as it is from a terminal. */
class Command {
  readonly child: ChildProcess;
  out = '';
  err = '';

  constructor(...words: string[]) {
    const args = [main, ...words, '--data', at('data')];
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.on('data', (text) => (this.out += String(text)));
    this.child.stderr?.on('data', (text) => (this.err += String(text)));
    open.push(() => this.end('SIGKILL'));
  }

  /** Waits for words on stderr. */
  async says(words: RegExp): Promise<RegExpExecArray> {
    for (let tries = 0; tries < 1_000; tries++) {
      const found = words.exec(this.err);
      if (found !== null) return found;
      await sleep(50);
    }
    throw new Error(`it never says ${String(words)}, but: ${this.err}`);
  }

  async ended(): Promise<number | null> {
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  }

  end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.ended();
  }
}

/** The same in this process, to its end. */
async function tell(...words: string[]) {
  const written = { out: '', err: '' };
  const code = await run([...words, '--data', at('data')], {
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    env: {},
  });
  return { code, ...written };
}

async function begun(workflow: string): Promise<{ command: Command; runId: string }> {
  const words = ['--agents', at('agents.yaml'), '--input', 'letter=It is 7'];
  const command = new Command('run', at(workflow), ...words);
  await command.says(/given It is 7/);
  const [, runId = ''] = await command.says(/^run (tsk_\w+):/m);
  return { command, runId };
}

async function serve(port: string): Promise<Command> {
  const words = ['--agents', at('agents.yaml'), '--id', 'desk', '--port', port, '--json'];
  const command = new Command('agent', at('answer.yaml'), ...words);
  while (command.out === '' && command.child.exitCode === null) await sleep(50);
  return command;
}

async function asPriya(port: string): Promise<A2aClient> {
  const principal = { tenant: 'local', id: 'priya', role: 'caller' } as const;
  const { key } = await hub.hub.createKey(localPrincipal, { principal });
  const client = await connectA2a({
    url: `http://127.0.0.1:${port}/`,
    credential: `Bearer ${key}`,
    self: { kind: 'user', name: 'Priya' },
    retry: { attempts: 200, firstMs: 50, capMs: 500 },
  });
  open.push(() => client.close());
  return client;
}

const say = (text: string) => [{ kind: 'text', text }] as const;

describe('a run from another terminal', () => {
  it('is listed, told of, interrupted and suspended there, and resumed', async () => {
    const { command, runId } = await begun('find.yaml');
    expect((await tell('run', '--open')).out).toContain(`${runId}  running`);
    expect((await tell('run', '--status', runId)).out).toMatch(/find +running +finder/);
    const interrupted = await tell('run', '--interrupt', runId, 'It is 8', '--about', 'letter');
    expect(interrupted).toMatchObject({ code: 0, out: expect.stringContaining('modify find') });
    expect(interrupted.out).toContain('whoever drives the run knows it');
    await command.says(/given It is 7 \+ It is 8/);
    expect((await tell('run', '--suspend', runId)).out).toContain('whoever drives the run');
    release();
    expect(await command.ended()).toBe(0);
    expect(command.out).toContain('It is 7 + It is 8');
    expect(command.err).toContain('a later requirement: modify find');
    expect((await tell('run', '--open')).out).toBe('No run is open.\n');
    expect(await tell('run', '--interrupt', runId, 'Too late')).toMatchObject({ code: 1 });
  });

  it('is cancelled there, and the command that drove it says so', async () => {
    const { command, runId } = await begun('find.yaml');
    const cancelled = await tell('run', '--cancel', runId);
    expect(cancelled).toMatchObject({ code: 0, out: expect.stringContaining('finder stopped') });
    expect(await command.ended()).toBe(1);
    expect(command.out).toMatch(/^cancelled/);
  });

  it.each([
    [['--interrupt', 'tsk_x'], /say what changes/],
    [['--suspend', 'tsk_x'], /no run tsk_x/],
    [['--status', 'tsk_x', '--suspend', 'tsk_x'], /give one of/],
    [['--open', '--about', 'x'], /--about: belongs to --interrupt/],
    [['--resume', 'tsk_x'], /--agents: name the file/],
  ])('%j is refused by name', async (words, problem) => {
    const { code, err } = await tell('run', ...words);
    expect(err).toMatch(problem);
    expect([1, 2]).toContain(code);
  });
});

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s suspends the run and gives the command that goes on with it',
    async (signal, code) => {
      const { command, runId } = await begun('find.yaml');
      expect(await command.end(signal)).toBe(code);
      const [, words = ''] = /Go on with: throughline (.*)$/m.exec(command.out) ?? [];
      expect(words).toContain(`run --resume ${runId} --agents ${at('agents.yaml')}`);
      expect(command.err).toContain(`Suspending ${runId}; go on with:`);
      expect((await tell('run', '--status', runId)).out).toMatch(/^(?:suspended|running)/);
      release();
      const again = await tell(...words.split(' ').slice(0, 5));
      expect(again).toMatchObject({ code: 0, out: expect.stringContaining('It is 7') });
    },
  );

  it('that comes again ends the process at once, with the command said', async () => {
    const { command, runId } = await begun('find.yaml');
    command.child.kill('SIGINT');
    await command.says(/go on with/);
    await command.end('SIGINT');
    expect(command.err).toContain(`--resume ${runId}`);
    expect(command.child.exitCode ?? command.child.signalCode).toSatisfy(
      (how) => how === 130 || how === 'SIGINT',
    );
  });

  it('lets an agent end in bounded time, whatever its handler does', async () => {
    const agent = new Command('agent', at('finder.mjs'), '--json');
    while (agent.out === '') await sleep(50);
    const { url } = z.object({ url: z.url() }).parse(JSON.parse(agent.out));
    writeFileSync(at('agents.yaml'), `agents: [{ id: finder, url: '${url}' }]`);
    const words = ['--agents', at('agents.yaml'), '--input', 'letter=It is 7'];
    const command = new Command('run', at('find.yaml'), ...words);
    await agent.says(/given It is 7/);
    expect(await agent.end('SIGTERM')).toBe(0);
    await command.end('SIGKILL');
  });
});

describe('a workflow served as an agent', () => {
  it('goes on with the same task after a kill, takes a barge-in and an answer', async () => {
    const port = String(await freePort());
    const first = await serve(port);
    const priya = await asPriya(port);
    const seen: PeerTask[] = [];
    const watched = (async () => {
      for await (const task of priya.watch({ parts: say('It is 7') })) seen.push(task);
    })();
    await first.says(/given It is 7/);
    // A barge-in takes the task’s id, which the stream brings.
    const told = (): string | undefined => seen.find((each) => each.taskId !== undefined)?.taskId;
    while (told() === undefined) await sleep(20);
    await first.end('SIGKILL');
    const second = await serve(port);
    await second.says(/given It is 7/);
    const taskId = told() ?? '';
    const interrupted = priya.send({ taskId, parts: say('No, it is 8') });
    await second.says(/given It is 7 \+ No, it is 8/);
    release();
    expect(await interrupted).toMatchObject({
      taskId,
      awaiting: 'input',
      text: 'Formal or friendly?',
    });
    await watched;
    expect(seen.at(-1)).toMatchObject({ taskId, awaiting: 'input', text: 'Formal or friendly?' });
    const done = await priya.send({ taskId, parts: say('Friendly') });
    expect(done).toMatchObject({
      taskId,
      state: 'completed',
      text: 'Friendly: It is 7 + No, it is 8',
    });
  });

  it('is told apart from code, refused without its agents, and says what it needs', async () => {
    const { err, code } = await tell('agent', at('answer.yaml'));
    expect([code, err]).toEqual([2, expect.stringMatching(/--agents: name the file/)]);
    writeFileSync(
      at('two.yaml'),
      `name: Two\nsubtasks:\n${find.replace('[letter]', '[letter, terms]')}`,
    );
    const port = String(await freePort());
    const words = ['--agents', at('agents.yaml'), '--port', port, '--json'];
    const command = new Command('agent', at('two.yaml'), ...words);
    while (command.out === '' && command.child.exitCode === null) await sleep(50);
    const priya = await asPriya(port);
    const refused = await priya.send({ parts: say('It is 7') });
    expect(refused).toMatchObject({
      state: 'rejected',
      text: expect.stringMatching(/letter, terms/),
    });
    await command.says(/letter, terms/);
    expect(command.err).not.toMatch(/^\s+at /m);
  });
});
