import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadAgentModule } from './agent-module.ts';
import { run } from './program.ts';
import { progressLines } from './run/show-progress.ts';
import { terminal } from './terminal.ts';

const finder = `export default async function (context, io) {
  const letter = await io.fetch(context.ContextItems[0].ContextID);
  await io.output('facts', 'text/plain', letter.text().split('. ').filter((s) => /\\d/.test(s)).join('. '));
  await io.itemDone('read', 'Found some facts');
}`;
const writer = `export const card = { description: 'Writes answers' };
export async function handler(context, io) {
  const facts = await io.fetch(context.ContextItems[0].ContextID);
  await io.output('answer', 'text/plain', 'We noted: ' + facts.text());
  await io.itemDone('draft', 'Drafted');
}`;
const agents = `agents:
  - { id: finder, module: finder.mjs }
  - { id: writer, module: writer.mjs }
`;
const workflow = `name: answer-a-letter
subtasks:
  - { id: find, name: Find the facts, agent: finder, needs: [letter],
      produces: [{ name: facts, description: Facts, type: text }], todo: [{ id: read, description: Read }] }
  - { id: write, name: Write the answer, agent: writer, dependsOn: [find], needs: [facts],
      produces: [{ name: answer, description: The answer, type: text }], todo: [{ id: draft, description: Draft }] }
`;

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-run-'));
  const files = {
    'finder.mjs': finder,
    'writer.mjs': writer,
    'nothing.mjs': 'export const other = 1;',
    'broken.mjs': 'export default (',
    'wrong.mjs': 'export const handler = 4;',
    'agents.yaml': agents,
    'asking.yaml': `${agents}limits: { tokens: 1, onHit: ask }\n`,
    'answer.yaml': workflow,
    'stranger.yaml': workflow.replace('agent: writer', 'agent: scribe'),
    'wrong.yaml': workflow.replace('todo:', 'todos:'),
    'letter.txt': 'Hello. My bill is 40 euros. Thanks',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function throughline(...words: string[]) {
  let stdout = '';
  let stderr = '';
  const code = await run([...words, '--data', at('data')], {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: {},
  });
  return { code, stdout, stderr };
}

const runSchema = z.looseObject({
  run: z.looseObject({ runId: z.string(), status: z.string(), requestTask: z.string() }),
  texts: z.record(z.string(), z.string()),
});

describe('throughline run', { timeout: 60_000 }, () => {
  it('tells an agent of the environment where its subtask needs that', async () => {
    const needing = workflow.replace('needs: [letter]', 'needs: [environment-context]');
    writeFileSync(at('environment.yaml'), needing);
    const told = finder.replace('letter.text()', '("1 " + letter.text())');
    writeFileSync(at('telling.mjs'), told);
    writeFileSync(at('telling.yaml'), agents.replace('finder.mjs', 'telling.mjs'));
    const words = ['run', at('environment.yaml'), '--agents', at('telling.yaml'), '--json'];
    const { code, stdout } = await throughline(...words);
    expect(code).toBe(0);
    expect(runSchema.parse(JSON.parse(stdout)).texts['answer']).toContain('"zone":');
  });

  it('runs a workflow on a hub of its own, a line each for what happens', async () => {
    const words = ['run', at('answer.yaml'), '--agents', at('agents.yaml')];
    const input = ['--input', `letter=@${at('letter.txt')}`];
    const { code, stdout, stderr } = await throughline(...words, ...input);
    expect(stderr.split('\n')).toEqual(
      expect.arrayContaining([
        'find: finder begins',
        'find: item read done',
        'find: completed',
        'write: completed',
      ]),
    );
    expect(stdout).toMatch(/^completed\n/);
    expect(stdout).toContain('We noted: My bill is 40 euros');
    expect(stdout).toMatch(/\n2 hand-overs: [\d,]+ tokens sent/);
    const data = `--data ${at('data')}`;
    expect(stdout).toMatch(
      new RegExp(
        `case show act_\\w+ ${data}\\n\\(first, in another terminal: throughline serve ${data}\\)`,
      ),
    );
    expect(code).toBe(0);
  });

  it('has agents check themselves by the graders of the workflow, and tries again', async () => {
    const graded = workflow.replace(
      'todo: [{ id: draft',
      'criteria: [{ id: euros, description: In euros, grade: { by: pattern, of: { output: answer }, pattern: euros } }],\n      todo: [{ id: draft',
    );
    writeFileSync(at('graded.yaml'), graded);
    const words = ['run', at('graded.yaml'), '--agents', at('agents.yaml'), '--json'];
    const good = await throughline(...words, '--input', 'letter=It is 7 euros.');
    expect(good.code).toBe(0);
    const bad = await throughline(...words, '--input', 'letter=It is 7 dollars.');
    expect(bad.code).toBe(1);
    const { run: report } = runSchema.parse(JSON.parse(bad.stdout));
    const reason = expect.stringMatching(/euros is not in output answer/);
    expect(report).toMatchObject({
      subtasks: [{ id: 'find' }, { id: 'write', attempts: [{ reason }, { reason }] }],
    });
  });

  it('gives its report as JSON, and nothing else', async () => {
    const words = ['run', at('answer.yaml'), '--agents', at('agents.yaml')];
    const { code, stdout, stderr } = await throughline(
      ...words,
      '--input',
      'letter=It is 7.',
      '--json',
    );
    const { run: report, texts } = runSchema.parse(JSON.parse(stdout));
    expect(report.status).toBe('completed');
    expect(texts).toEqual({ answer: 'We noted: It is 7.' });
    expect([code, stderr]).toEqual([0, '']);
  });

  it('waits with an exit code of its own where it asks, and goes on by its id', async () => {
    const words = ['--agents', at('asking.yaml')];
    const input = ['--input', 'letter=It is 7.', '--parallel', '1'];
    const asked = await throughline('run', at('answer.yaml'), ...words, ...input);
    expect(asked.code).toBe(5);
    expect(asked.stdout).toMatch(/awaiting-input/);
    expect(asked.stdout).toMatch(/^with --answer TEXT/m);
    const [, runId = ''] = /--resume (tsk_\w+)/.exec(asked.stdout) ?? [];
    const still = await throughline('run', '--resume', runId, ...words);
    expect(still.code).toBe(5);
    const done = await throughline('run', '--resume', runId, ...words, '--answer', 'no');
    expect(done).toMatchObject({ code: 1, stdout: expect.stringMatching(/^failed: .*limit/) });
    const late = await throughline('run', '--resume', runId, ...words, '--answer', 'yes');
    expect(late.stderr).toMatch(/asks nothing now, so --answer is not used/);
    const cancelled = await throughline('run', '--cancel', runId, ...words);
    expect(cancelled.stdout).toMatch(/^failed/);
  });

  it.each([
    [['answer.yaml'], 'agents.yaml', [], /needs letter, which nobody offers/],
    [['stranger.yaml'], 'agents.yaml', ['letter=x'], /agent scribe is not known/],
    [['wrong.yaml'], 'agents.yaml', ['letter=x'], /wrong\.yaml: .*\n.*"todos"/],
    [['missing.yaml'], 'agents.yaml', [], /can’t be read/],
    [['answer.yaml'], 'answer.yaml', [], /agents/],
    [['answer.yaml'], 'missing.yaml', [], /can’t be read/],
    [['answer.yaml'], 'agents.yaml', ['letter'], /name=text/],
    [['answer.yaml'], 'agents.yaml', ['letter=@nowhere'], /nowhere: can’t be read/],
    [[], 'agents.yaml', [], /give one of a workflow file/],
  ] as const)('refuses %s with %s and %s by name', async (plan, file, inputs, problem) => {
    const { code, stderr, stdout } = await throughline(
      'run',
      ...plan.map(at),
      '--agents',
      at(file),
      ...inputs.flatMap((each) => ['--input', each]),
    );
    expect(stderr).toMatch(problem);
    expect([code, stdout]).toEqual([2, '']);
  });

  it('does not know runs of others', async () => {
    const words = ['run', '--resume', 'tsk_nothing', '--agents', at('agents.yaml')];
    expect(await throughline(...words)).toMatchObject({ code: 1 });
  });
});

describe('an agent in a file', () => {
  it('is a handler by default or by name, with a card', async () => {
    const byDefault = await loadAgentModule('finder.mjs', folder);
    expect(byDefault).toMatchObject({ card: { name: 'finder', version: '1.0.0' } });
    expect(byDefault.handler).toBeTypeOf('function');
    const named = await loadAgentModule(at('writer.mjs'));
    expect(named.card).toMatchObject({ name: 'writer', description: 'Writes answers' });
    expect(named.handler).toBeTypeOf('function');
  });

  it.each([
    ['nothing.mjs', /exports nothing that works; export a function handler/],
    ['broken.mjs', /can’t be loaded/],
    ['wrong.mjs', /must be a function/],
    ['missing.mjs', /can’t be loaded/],
  ])('%s is refused with what to do', async (name, problem) => {
    await expect(loadAgentModule(name, folder)).rejects.toThrow(problem);
  });

  it('is not served without a hub', async () => {
    const alone = await run(['agent', at('finder.mjs'), '--data', at('none')], {
      stdout: { write: () => undefined },
      stderr: { write: () => undefined },
      env: {},
    });
    expect(alone).toBe(3);
  });
});

describe('progress on a terminal', () => {
  const shows = terminal({ isTTY: true, columns: 60, env: { NO_COLOR: '1' } });
  it('fits its width, with a bar of the items and whose step it is', () => {
    const lines = progressLines(
      {
        runId: 'r',
        subtasks: [
          {
            id: 'a',
            name: 'Find the facts',
            agent: 'finder',
            status: 'running',
            attempt: 2,
            items: [
              { id: '1', description: '', state: 1 },
              { id: '2', description: '', state: 0 },
            ],
          },
          {
            id: 'b',
            name: 'Write',
            agent: 'writer',
            status: 'running',
            attempt: 1,
            items: [],
            notReached: 'connect ECONNREFUSED 127.0.0.1:4703, and a long story about it',
          },
        ],
      },
      shows,
      '*',
    );
    expect(lines).toEqual([
      '  * Find the facts █████░░░░░ 1/2 finder, try 2',
      '  * Write          ░░░░░░░░░░ 0/0 writer is not reached: co…',
    ]);
  });
});

describe('an agent that asks', { timeout: 60_000 }, () => {
  it('waits for the answer, whichever process brings it, and reads what it was given', async () => {
    const asker = `let runs = 0;
export async function handler(context, io) {
  runs += 1;
  const month = await io.ask('Of which month?');
  const year = await io.ask('And which year?');
  const letter = await io.fetch(context.ContextItems[0].ContextID);
  await io.output('facts', 'text/plain', [month, year, letter.text(), runs].join(' '));
  await io.itemDone('read', 'Asked and read');
}`;
    writeFileSync(at('asker.mjs'), asker);
    writeFileSync(at('askers.yaml'), agents.replace('finder.mjs', 'asker.mjs'));
    const words = ['--agents', at('askers.yaml')];
    const first = await throughline('run', at('answer.yaml'), ...words, '--input', 'letter=Hello');
    expect(first).toMatchObject({ code: 5, stdout: expect.stringContaining('Of which month?') });
    const [, runId = ''] = /--resume (tsk_\w+)/.exec(first.stdout) ?? [];
    const resume = ['run', '--resume', runId, ...words, '--answer'];
    const second = await throughline(...resume, 'May');
    expect(second).toMatchObject({
      stderr: expect.not.stringContaining('throughline:'),
      code: 5,
      stdout: expect.stringContaining('And which year?'),
    });
    const third = await throughline(...resume, '2030');
    expect(third.stdout).toContain('We noted: May 2030 Hello 3');
    expect(third.code).toBe(0);
  });
});
