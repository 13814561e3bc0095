import { afterEach, beforeEach, expect, it, describe } from 'vitest';
import type { GraderSpecInput } from '../model/grader.ts';
import type { RunReport } from '../model/run.ts';
import { serveChat } from '../models/conformance/chat-server.ts';
import { modelFromEnv } from '../models/from-env.ts';
import { criteriaGrader } from '../models/grade-criteria.ts';
import { done, offered, World } from './conformance.ts';
import type { MasterOptions } from './master.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

/** A run of one subtask whose criterion asks for a grader; the agent quotes what it says it read. */
async function run(
  grade: GraderSpecInput,
  quote: string,
  options: Partial<MasterOptions> = {},
): Promise<RunReport> {
  await world.aciAgent('reader', async ({ context, output }) => {
    const [item] = context.ContextItems;
    const citations = [{ contextId: item?.ContextID, quote }];
    await output('answer', JSON.stringify({ answer: quote, citations }));
    return done(context, ['answer']);
  });
  const master = world.master(options);
  const taskId = await world.request('What is paid?');
  return master.run({
    taskId,
    query: 'What is paid?',
    offered,
    workflow: {
      name: 'Case',
      subtasks: [
        {
          id: 'look',
          name: 'Look it up',
          agent: 'reader',
          needs: ['terms'],
          todo: [{ id: 'one', description: 'Look' }],
          criteria: [{ id: 'shown', description: 'It is shown', grade }],
          attempts: 1,
          timeoutSeconds: 30,
        },
      ],
    },
  });
}

const cited = { by: 'citations', of: { output: 'answer' } } as const;

describe('a criterion that names its grader', () => {
  it('is graded by the Master, on what the agent put out and was given', async () => {
    const [subtask] = (await run(cited, 'Cash back is 2 %')).subtasks;
    expect(subtask?.status).toBe('completed');
    expect(subtask?.verdict).toMatchObject({
      ok: true,
      criteria: [{ id: 'shown', ok: true, by: 'citations' }],
    });
  });

  it('is not met by what was invented, though the agent calls it passed', async () => {
    const [subtask] = (await run(cited, 'Cash back is 9 %')).subtasks;
    expect(subtask?.status).toBe('failed');
    expect(subtask?.verdict).toMatchObject({ ok: false, criteria: [{ id: 'shown', ok: false }] });
    expect(subtask?.attempts[0]?.reason).toContain('"Cash back is 9 %" does not stand in');
  });

  it('is judged by a model where it asks for one, and what that used counts for the run', async () => {
    await using server = await serveChat(({ prompt }) =>
      JSON.stringify({ met: prompt.includes('one is done'), reason: 'it says so' }),
    );
    const env = { THROUGHLINE_MODEL: 'local/judge', THROUGHLINE_MODEL_URL: server.url };
    const grade = criteriaGrader({ model: await modelFromEnv(env) });
    const prices = { grader: { input: 1_000_000, output: 0 } };
    const report = await run({ by: 'model' }, 'Cash back is 2 %', { grade, prices });
    expect(report.subtasks[0]?.verdict).toMatchObject({ ok: true, criteria: [{ ok: true }] });
    expect(report.usage.inputTokens).toBeGreaterThan(0);
    expect(report.usage.money).toBe(report.usage.inputTokens);
  });

  it('that could never run is refused before anything is handed out', async () => {
    const refused = run({ by: 'pattern', pattern: '(' }, 'x');
    await expect(refused).rejects.toMatchObject({
      cause: { message: expect.stringContaining('criterion shown: The pattern ( can’t be used') },
    });
    expect(world.received.filter(({ agent }) => agent === 'reader')).toEqual([]);
  });
});
