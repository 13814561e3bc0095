/** For tests: runs an example in a process of its own, as `npm run example -- NAME --json` does. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const outputSchema = z.object({
  version: z.literal(1),
  result: z.unknown(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), saw: z.unknown() })),
});
const failureSchema = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() });

export async function told(name: string, ...args: readonly string[]) {
  const main = fileURLToPath(new URL(`../${name}/main.ts`, import.meta.url));
  const run = promisify(execFile)(process.execPath, [main, '--json', ...args]);
  const ended = await run.then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    (error: unknown) => failureSchema.parse(error),
  );
  const last = ended.stdout.trimEnd().split('\n').at(-1) ?? '';
  if (last === '') throw new Error(`exit ${ended.code}: ${ended.stderr.slice(-2_000)}`);
  const { result, checks } = outputSchema.parse(JSON.parse(last));
  const failed = checks.filter(({ ok }) => !ok).map(({ name: check }) => check);
  return {
    code: ended.code,
    result,
    names: checks.map(({ name: check }) => check),
    failed,
    checks,
  };
}
