import type { DraftInput } from '../model/assertion.ts';
import type { ContentKeeping, ContentRef, ReadTokenRequest } from '../model/content.ts';
import type { Party } from '../model/observation.ts';
import type { LeftRun, StoredRun } from '../model/stored-run.ts';
import type { Beat, Pulse } from '../model/worker.ts';
import type { Handover, Usage } from '../model/usage.ts';

/**
 * Where a run's decisions are kept: all that durability takes. The hub is one; an engine for durable
 * execution or a table with a version column can be another. A decision counts once `saveRun` resolved.
 */
export interface RunStore {
  /** The run's decisions; `expected` is the version read (0 for a new one), another is `conflict`. */
  saveRun(run: {
    id: string;
    activity: string;
    done: boolean;
    state: unknown;
    expected: number;
    /** Process that drives it from now on; null: none does. Absent: as it was. */
    driver?: string | null;
    /** What models of the Master's own used, where that changed; the run's id is then its Task's. */
    usage?: Usage[];
  }): Promise<{ version: number }>;
  loadRun(id: string): Promise<StoredRun | undefined>;
  /** Runs of this Master that are not done. */
  openRuns(): Promise<readonly string[]>;
}

/**
 * Which processes of a Master are alive, from where its runs are kept: a run's driver counts there only
 * as long as it says that it lives. Who may write a run is decided by its version and nothing else.
 */
export interface RunLeases {
  /** This process is alive, for some seconds. */
  beat(given: Beat): Promise<Pulse>;
  /** It ends in order: what it drives may be taken up at once. */
  leave(given: Pick<Beat, 'worker'>): Promise<void>;
  /** Runs whose process is gone, a bounded number. */
  leftRuns(): Promise<readonly LeftRun[]>;
}

/**
 * What a Master needs of its hub; served in process or over the hub's API. The Master's own
 * principal is the caller.
 */
export interface MasterPorts extends RunStore {
  /** Public ids, so that everything has its name before it happens. */
  newId(kind: 'dialog' | 'task' | 'resource' | 'relationship' | 'message'): string;
  /** The Participant id of a party: one per principal, or per URL for outsiders; minted once. */
  participant(party: Party): Promise<string>;
  /**
   * Puts statements into the graph in order, all or none. Saying again what is so already (same
   * object, same statement) changes nothing, so that a Master killed in between may repeat the call.
   * Gives the id of the assertion of each; null where it was so already and it is not known who said so.
   */
  assert(drafts: readonly DraftInput[]): Promise<readonly (string | null)[]>;
  /** Finds the Dialog, Task and Activity behind an A2A task of one's own. */
  locate(taskId: string): Promise<{ activity: string; dialog: string; task: string }>;
  /** Offloads content once per case; the same bytes in one case give the same reference. */
  putContent(
    content: ContentKeeping & {
      activity: string;
      resource: string;
      mediaType: string;
      bytes: Uint8Array;
    },
  ): Promise<ContentRef>;
  /** `outputOf`: the Task that put it out, where one did and it may be known. */
  getContent(
    uri: string,
    token?: string,
  ): Promise<{ mediaType: string; bytes: Uint8Array; outputOf?: string | undefined }>;
  /** One right to read several pieces of content, for one principal, for some seconds. */
  readToken(request: ReadTokenRequest): Promise<string>;
  /**
   * A credential with which the Master calls one agent behind the same hub: it tells that agent who
   * calls and opens nothing else. `audience`: the agent's principal id; at most 3,600 seconds.
   */
  callToken(request: { audience: string; seconds: number }): Promise<string>;
  /** Keeps figures and both counted texts. */
  saveHandover(
    handover: Handover,
    texts: { sent: string; fullHistory: string; returned?: string },
  ): Promise<void>;
}
