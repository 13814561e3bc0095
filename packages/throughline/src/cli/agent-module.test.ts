import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { connectA2a } from '../bindings/a2a/index.ts';
import { loadAgentModule } from './agent-module.ts';
import { startHub } from './wire.ts';

// Processes take their time to start on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const files = {
  'class.mjs': 'export default class Agent {}',
  'method.mjs': 'export class handler {}',
  'endless.mjs': 'await new Promise(() => undefined); export const handler = () => undefined;',
  'common.cjs': 'module.exports = { onMessage: ({ text }) => ({ text }) };',
  'typed.ts': 'export default (context: unknown): void => undefined;',
  'forgets.mjs': `export function onMessage({ text }) {
    if (text === 'forget') void Promise.reject(new Error('forgotten'));
    return { text };
  }`,
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-module-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a file of an agent', () => {
  it.each(['common.cjs', 'typed.ts'])('may be written as %s', async (name) => {
    const { handler, onMessage } = await loadAgentModule(name, folder);
    expect(handler ?? onMessage).toBeTypeOf('function');
  });

  it.each([
    ['class.mjs', /must be a function or hold one/],
    ['method.mjs', /must be a function/],
    ['.', /can’t be loaded: it is no file/],
    ['missing.mjs', /can’t be loaded: .*no such file/],
  ])('%s is refused with what is wrong', async (name, problem) => {
    await expect(loadAgentModule(name, folder)).rejects.toThrow(problem);
  });

  it('is refused when it is never loaded', async () => {
    const loading = loadAgentModule('endless.mjs', folder, 50);
    await expect(loading).rejects.toThrow(/is not done after 50 ms/);
  });
});

describe('an agent that is served from a file', () => {
  it('goes on when a handler forgets a promise that fails, and says so', async () => {
    const dataDir = join(folder, 'data');
    const hub = await startHub({ dataDir, port: 0 });
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const words = [main, 'agent', join(folder, 'forgets.mjs'), '--json', '--data', dataDir];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const closed = once(child, 'close');
    try {
      const [line] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(30_000) });
      const { url } = z.object({ url: z.url() }).parse(JSON.parse(String(line)));
      const self = { kind: 'user', name: 'Local' } as const;
      const credential = `Bearer ${hub.localKey}`;
      const client = await connectA2a({ url, credential, self });
      for (const text of ['forget', 'still there?']) {
        const answer = await client.send({ parts: [{ kind: 'text', text }] });
        expect(answer.text).toBe(text);
      }
      await client.close();
      expect(said).toMatch(/^Error: forgotten/m);
    } finally {
      child.kill('SIGTERM');
      await closed;
      await hub.close();
    }
  });
});
