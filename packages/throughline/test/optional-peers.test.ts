import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { repository } from './source.ts';

const packageFolder = join(repository, 'packages/throughline');

/** Runs a script in a process in which some packages are not installed. */
async function without(packages: readonly string[], script: string): Promise<unknown> {
  const program = `
    import { registerHooks } from 'node:module';
    const missing = ${JSON.stringify(packages)};
    registerHooks({
      resolve(specifier, context, next) {
        if (!missing.some((name) => specifier === name || specifier.startsWith(name + '/'))) {
          return next(specifier, context);
        }
        throw Object.assign(new Error('not installed'), { code: 'ERR_MODULE_NOT_FOUND' });
      },
    });
    const said = await (async () => { ${script} })().then(
      () => 'nothing',
      ({ code, message }) => ({ code, message }),
    );
    process.stdout.write(JSON.stringify(said));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { cwd: packageFolder },
  );
  return JSON.parse(stdout);
}

const askModel = `
  const { modelFromEnv } = await import('./src/models/from-env.ts');
  const env = { THROUGHLINE_MODEL: 'local/m', THROUGHLINE_MODEL_URL: 'http://127.0.0.1:9/v1' };
  await modelFromEnv(env);`;
const readCode = `
  const { treeSitter } = await import('./src/agent/tree-sitter.ts');
  await treeSitter()(['text/x-python']);`;
const carryRuns = `
  const { dbosEngine } = await import('./src/master/dbos/dbos-engine.ts');
  await dbosEngine({ databaseUrl: 'postgres://127.0.0.1:9/x', leases: {}, name: 'desk' });`;

describe('a package that is needed for one thing alone and not installed', () => {
  it.each([
    ['ai', askModel, 'npm install ai @ai-sdk/openai-compatible'],
    ['@ai-sdk/openai-compatible', askModel, 'npm install ai @ai-sdk/openai-compatible'],
    ['web-tree-sitter', readCode, 'npm install web-tree-sitter @vscode/tree-sitter-wasm'],
    ['@vscode/tree-sitter-wasm', readCode, 'npm install web-tree-sitter @vscode/tree-sitter-wasm'],
    ['@dbos-inc/dbos-sdk', carryRuns, 'npm install @dbos-inc/dbos-sdk pg'],
    ['pg', carryRuns, 'npm install @dbos-inc/dbos-sdk pg'],
  ])('is asked for by name: %s', async (name, script, command) => {
    expect(await without([name], script)).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(command),
    });
  });

  it('is not missed where it is there', async () => {
    expect(await without([], askModel)).toBe('nothing');
    expect(await without([], readCode)).toBe('nothing');
  });
});
