import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HubClient } from 'throughline/client';

const bin = fileURLToPath(new URL('../../throughline/bin/throughline.mjs', import.meta.url));
const triesUntilUp = 150;

/** A hub in a process of its own, as `throughline serve` starts it. */
export interface HubProcess {
  readonly url: string;
  /** Key of its operator. */
  readonly key: string;
  /** Ends it without letting it finish anything. */
  kill(): Promise<void>;
}

/** Starts the built hub on a folder; resolves when it answers. */
export async function startHubProcess(folder: string, port: number): Promise<HubProcess> {
  const args = [bin, 'serve', '--data', folder, '--port', String(port)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < triesUntilUp && child.exitCode === null; tries++) {
    try {
      const key = readFileSync(join(folder, 'local.key'), 'utf8').trim();
      await new HubClient({ url, key, attempts: 1 }).whoAmI();
      return { url, key, kill: () => kill(child) };
    } catch {
      await wait(100);
    }
  }
  await kill(child);
  throw new Error(`the hub did not come up: ${said.join('')}`);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  child.once('exit', () => resolve(undefined));
  child.kill('SIGKILL');
  await promise;
}
