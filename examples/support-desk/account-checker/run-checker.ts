/** Starts an account checker and talks to it, as any A2A 1.0 client would. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The two implementations of the account checker. */
export type Twin = 'python' | 'node';

/** A running account checker. */
export interface RunningChecker {
  /** Base URL; the agent card is under it. */
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Whether a python3 that can run the checker is on this machine. */
export function hasPython(): boolean {
  const version = 'import sys; sys.exit(sys.version_info < (3, 11))';
  return spawnSync('python3', ['-c', version]).status === 0;
}

/** Starts one twin on a free loopback port and waits until it listens. */
export async function startChecker(
  twin: Twin,
  args: readonly string[] = [],
): Promise<RunningChecker> {
  const name = twin === 'python' ? 'checker.py' : 'checker.mjs';
  const file = fileURLToPath(new URL(name, import.meta.url));
  const command = twin === 'python' ? 'python3' : process.execPath;
  const flags = twin === 'python' ? ['-B'] : [];
  const child = spawn(command, [...flags, file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  // It is told nothing of us, so it would not notice that we are gone.
  const orphan = (): void => void child.kill('SIGKILL');
  process.once('exit', orphan);
  child.once('exit', () => process.off('exit', orphan));
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => undefined),
  ]);
  if (first === undefined) throw new Error(`The ${twin} account checker ended before it listened`);
  const { url } = z.object({ url: z.url() }).parse(JSON.parse(String(first[0])));
  return {
    url,
    process: child,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
