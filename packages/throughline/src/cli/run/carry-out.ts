import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Master, OnQuestion, RunOptions, StartedRun } from '../../master/index.ts';
import type { RunReport } from '../../model/run.ts';
import type { Surroundings } from '../command.ts';
import { Stopped } from '../exit.ts';
import type { Output } from '../output.ts';
import { onSignals } from '../signalled.ts';
import { inPipe, onTerminal, type Shown } from './show-progress.ts';

/** Milliseconds for the hub to take down that a run is suspended; it goes on all the same. */
const suspendMs = 3_000;

export interface Carried {
  readonly surroundings: Surroundings;
  readonly out: Output;
  readonly master: Master;
  /** The command that goes on with a run. */
  readonly resume: (runId: string) => string;
  readonly begin: (options: RunOptions) => Promise<StartedRun>;
}

/** How a run came to rest here, and with which exit code where a signal ended it. */
export interface CarriedOut {
  readonly report: RunReport;
  readonly signalled?: number;
}

/**
 * Drives a run, shown as it goes. At SIGINT or SIGTERM it is suspended, with the command that goes on with
 * it; at a second one the process ends.
 *
 * @throws Stopped where it was signalled before it had a run.
 */
export async function carryOut(carried: Carried): Promise<CarriedOut> {
  const { surroundings, out, master } = carried;
  let started: StartedRun | undefined;
  const isTerminal = surroundings.stdout.isTTY === true && !out.json;
  const shown = isTerminal
    ? onTerminal(surroundings, out.terminal, () => started?.progress)
    : inPipe(out.json ? { ...surroundings, stderr: { write: () => undefined } } : surroundings);
  const stop = new AbortController();
  const runId = (): string => started?.progress.runId ?? '';
  let isTold = false;
  let signalled: number | undefined;
  const off = onSignals((exitCode) => {
    signalled ??= exitCode;
    shown.pause();
    if (!isTold && runId() !== '') {
      isTold = true;
      out.note(`Suspending ${runId()}; go on with:\n  ${carried.resume(runId())}`);
    }
    void suspended(master, runId()).finally(() => stop.abort(new Error('interrupted')));
  });
  try {
    started = await carried.begin({
      signal: stop.signal,
      onEvent: shown.onEvent,
      ...(isTerminal && { onQuestion: asking(shown) }),
    });
    const report = await started.report;
    return { report, ...(signalled !== undefined && { signalled }) };
  } catch (error) {
    if (!stop.signal.aborted || signalled === undefined) throw error;
    if (runId() === '') throw new Stopped(signalled, 'Nothing was begun.');
    return { report: await master.status(runId()), signalled };
  } finally {
    off();
    shown.end();
  }
}

/** Takes down that nothing more is begun, where there is a run and the hub answers in time. */
async function suspended(master: Master, runId: string): Promise<void> {
  if (runId === '') return;
  const late = sleep(suspendMs, undefined, { ref: false });
  await Promise.race([master.suspend(runId).catch(() => undefined), late]);
}

/** Asks whoever sits at the terminal; nothing said leaves the question open. */
const asking =
  (shown: Shown): OnQuestion =>
  async ({ signal }) => {
    shown.pause();
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    // While it reads, Ctrl-C is a key like any other.
    reader.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      const said = await reader.question('> ', { signal });
      return said.trim() === '' ? undefined : said;
    } catch {
      return undefined;
    } finally {
      reader.close();
    }
  };
