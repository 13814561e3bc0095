/** The story as it is run, each check both ways. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkNames } from './story/check-names.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

const outputSchema = z.object({
  version: z.literal(1),
  result: z.object({
    answer: z.string().min(1),
    citations: z.array(z.object({ documentId: z.string(), quote: z.string() })),
    rows: z.array(z.object({ transaction_id: z.string() })),
  }),
  case: z.object({ contextId: z.string(), tasks: z.array(z.string()) }),
  counts: z.record(z.string(), z.number()),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean() })).optional(),
});
const failureSchema = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() });

/** Runs the story to its end in a process of its own. */
async function tell(...args: string[]) {
  const run = promisify(execFile)(process.execPath, [main, '--json', ...args]);
  const ended = await run.then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    (error: unknown) => failureSchema.parse(error),
  );
  const last = ended.stdout.trimEnd().split('\n').at(-1) ?? '';
  if (last === '') throw new Error(`exit ${ended.code}: ${ended.stderr.slice(-2_000)}`);
  return { code: ended.code, output: outputSchema.parse(JSON.parse(last)) };
}

const failed = (output: z.infer<typeof outputSchema>): string[] =>
  (output.checks ?? []).filter(({ ok }) => !ok).map(({ name }) => name);

describe('the story of the support desk', () => {
  it('runs between real processes and every check holds', { timeout: 120_000 }, async () => {
    const { code, output } = await tell();
    expect(failed(output)).toEqual([]);
    expect(output.checks?.map(({ name }) => name)).toEqual([...checkNames]);
    expect(code).toBe(0);
    expect(output.result.rows).toHaveLength(4);
    expect(output.case.tasks).toHaveLength(2);
    expect(output.counts).toMatchObject({ activities: 1, dialogs: 4, tasks: 5 });
  });

  it.each(checkNames)('sees that %s is broken on purpose', { timeout: 120_000 }, async (name) => {
    const { code, output } = await tell('--fault', name);
    expect(failed(output)).toEqual([name]);
    expect(code).toBe(1);
  });

  it('says what it cannot answer of another case', { timeout: 120_000 }, async () => {
    const { code, output } = await tell('--case', 'task_001');
    expect(failed(output)).toEqual([]);
    expect(code).toBe(0);
    expect(output.result.rows).toEqual([]);
    expect(output.result.answer).toContain('they may not answer it in full');
  });

  it('refuses what does not exist with a list of what does', { timeout: 120_000 }, async () => {
    for (const args of [
      ['--fault', 'nothing'],
      ['--transport', 'smoke-signals'],
      ['--case', 'x'],
    ]) {
      await expect(tell(...args)).rejects.toThrow(/there is|it holds/);
    }
  });
});
