import { randomUUID } from 'node:crypto';
import type { RunLeases } from './ports.ts';

/** Drives one run from wherever it stands to where it stops; safe to be called twice, and anywhere. */
export type DriveRun = (runId: string) => Promise<void>;

/**
 * What calls for a run to be driven, in a process of those that are alive. Whether a process may is
 * decided where the runs are kept, not here: an engine that calls twice, late or in the wrong process
 * makes it wait, and changes nothing.
 */
export interface RunEngine {
  /** Names this process; no other one ever has the same. */
  readonly process: string;
  /** Where it is kept which processes are alive. */
  readonly leases: RunLeases;
  /** Called once, before anything is carried here. */
  serve(drive: DriveRun): void;
  /**
   * Has a run driven, once: here, where nothing was left of it; `left`: a process of that name, which is
   * gone, drove it before. Resolves or throws as that call of `drive` did, wherever it was made.
   */
  carry(run: { readonly id: string; readonly left?: string }): Promise<void>;
  /** Calls no more. What it was called for has ended here. */
  close(): Promise<void>;
}

/**
 * Drives runs in this process, as soon as they are to be driven: all that it takes where the hub is the
 * only thing that the processes of a Master share, whatever its store.
 *
 * @param leases of where the runs are kept: the Master's ports of its hub.
 */
export function localEngine(leases: RunLeases): RunEngine {
  let call: DriveRun | undefined;
  return {
    process: randomUUID(),
    leases,
    serve: (drive) => {
      call = drive;
    },
    carry: async ({ id }) => call?.(id),
    close: () => Promise.resolve(),
  };
}
