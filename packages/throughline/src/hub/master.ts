import { ThroughlineError } from '../errors.ts';
import {
  foreignId,
  partySchema,
  type ContentRef,
  type DraftInput,
  type Handover,
  type Beat,
  type HandoverTexts,
  type LeftRun,
  type Party,
  type Principal,
  type Pulse,
  type ReadTokenRequest,
  type StoredRun,
} from '../model/index.ts';
import { authorize } from './authorize.ts';
import type { ContentInput } from './content.ts';
import type { ContentDesk } from './content-desk.ts';
import type { ReadContent } from './content-reading.ts';
import type { CallTokenRequest, CallTokens } from './call-tokens.ts';
import type { Deps } from './deps.ts';
import { meet } from './meet.ts';
import type { Registries } from './observing.ts';
import { Recorder } from './recorder.ts';
import { notFound, parse } from './refusals.ts';
import type { Run, Runs } from './runs.ts';
import type { Statements } from './statements.ts';
import { guardTask, type TaskStore } from './task-records.ts';
import type { Usage } from './usage.ts';
import type { Workers } from './workers.ts';
import { Workspace } from './workspace.ts';
import { inSpan } from '../telemetry/span.ts';

export interface MasterParts {
  readonly registries: Registries;
  readonly tasks: TaskStore;
  readonly statements: Statements;
  readonly content: ContentDesk;
  readonly runs: Runs;
  readonly workers: Workers;
  readonly usage: Usage;
  readonly callTokens: CallTokens;
}

/** The hub as one Master sees it: every call is that principal's. */
export class MasterDesk {
  readonly #deps: Deps;
  readonly #parts: MasterParts;
  readonly #by: Principal;

  constructor(deps: Deps, parts: MasterParts, by: Principal) {
    this.#deps = deps;
    this.#parts = parts;
    this.#by = by;
  }

  newId(kind: 'dialog' | 'task' | 'resource' | 'relationship' | 'message'): string {
    return this.#deps.ids.make(kind);
  }

  /**
   * The Participant behind a principal of the tenant, or behind an outsider's URL. Only of oneself and
   * of outsiders what is said here is kept.
   */
  async participant(given: Party): Promise<string> {
    const party = parse(partySchema, given, 'party');
    const { participants } = this.#parts.registries;
    return this.#deps.store.write(async (writer) => {
      const recorder = await Recorder.start(this.#deps, writer);
      const id = await meet(recorder, participants, this.#by, party);
      await recorder.flush();
      return id;
    });
  }

  assert(drafts: readonly DraftInput[]): Promise<(string | null)[]> {
    return inSpan('hub.assert', () => this.#parts.statements.assert(this.#by, drafts));
  }

  /** For tasks that this principal executes, began, or saw at somebody else's server. */
  async locate(given: string): Promise<{ activity: string; dialog: string; task: string }> {
    const taskId = parse(foreignId, given, 'taskId');
    const { tasks, registries } = this.#parts;
    const { vault, store } = this.#deps;
    const by = this.#by;
    const refusal = () => notFound('task', taskId);
    return store.read(async (reader) => {
      const record = await tasks.get(reader, by.tenant, taskId);
      const seen = await registries.mappings.findSeen(reader, by, taskId);
      if (record === undefined && seen.length > 1) {
        throw new ThroughlineError(
          'conflict',
          'taskId: names tasks at several servers; use the id of ours',
        );
      }
      const task = record?.shape.task ?? seen[0];
      if (record !== undefined) {
        authorize(by, 'get', guardTask(record, undefined), refusal);
      }
      const workspace = new Workspace(vault, reader, 'shapes');
      if (task !== undefined) await workspace.need([task]);
      const found = task === undefined ? undefined : workspace.graph.task(task);
      if (found === undefined) throw refusal();
      return { activity: found.activity, dialog: found.dialog, task: found.id };
    });
  }

  putContent(content: ContentInput): Promise<ContentRef> {
    return inSpan('hub.put-content', () => this.#parts.content.put(this.#by, content));
  }

  getContent(uri: string, token?: string): Promise<ReadContent> {
    return inSpan('hub.get-content', () =>
      this.#parts.content.get(this.#by, { uri, ...(token !== undefined && { token }) }),
    );
  }

  /** One right to read several pieces of content. */
  readToken(request: ReadTokenRequest): Promise<string> {
    return this.#parts.content.readToken(this.#by, request);
  }

  /** A credential for calling one agent of this hub, which opens nothing else. */
  callToken(request: CallTokenRequest): Promise<string> {
    return this.#parts.callTokens.sign(this.#by, request);
  }

  saveRun(run: Run): Promise<{ version: number }> {
    return inSpan('hub.save-run', () => this.#parts.runs.save(this.#by, run));
  }

  loadRun(id: string): Promise<StoredRun | undefined> {
    return this.#parts.runs.load(this.#by, id);
  }

  openRuns(): Promise<readonly string[]> {
    return this.#parts.runs.open(this.#by);
  }

  /** Runs whose process is gone. */
  leftRuns(): Promise<readonly LeftRun[]> {
    return this.#parts.runs.left(this.#by);
  }

  /** A process of this Master is alive. */
  beat(given: Beat): Promise<Pulse> {
    return this.#parts.workers.beat(this.#by, given);
  }

  /** It ends in order: what it drives may be taken up at once. */
  leave(given: Pick<Beat, 'worker'>): Promise<void> {
    return this.#parts.workers.leave(this.#by, given);
  }

  saveHandover(handover: Handover, texts: HandoverTexts): Promise<void> {
    return inSpan('hub.save-handover', () => this.#parts.usage.save(this.#by, handover, texts));
  }
}
