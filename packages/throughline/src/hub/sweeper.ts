import type { Swept } from '../model/index.ts';
import type { RecordKey, StoredRecord, StoreWriter } from '../store/store.ts';
import { measure } from '../telemetry/measure.ts';
import { caseRecords, type Cases } from './case-records.ts';
import type { ContentDesk } from './content-desk.ts';
import { clearLimit } from './content-objects.ts';
import { contextRecords, type Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import type { Erasure } from './erasure.ts';
import { grantRecords } from './grant-records.ts';
import type { Mappings } from './mappings.ts';
import { Recorder } from './recorder.ts';
import { dropAll } from './records.ts';
import { replyRecords } from './replies.ts';
import { taskKind, type TaskStore } from './task-records.ts';
import { workerKind, type Workers } from './workers.ts';

/** Records looked at in one pass, and in one write. */
const passLimit = 500;
const writeLimit = 25;
/** A context that something still runs in is looked at again after so long. */
const postponedMs = 3_600_000;

type Kind = keyof Omit<Swept, 'more'>;

/** Ends what its time is over for. What it takes is refused as anything that never was. */
export class Sweeper {
  readonly #deps: Deps;
  readonly #cases: Cases;
  readonly #contexts: Contexts;
  readonly #tasks: TaskStore;
  readonly #erasure: Erasure;
  readonly #content: ContentDesk;
  readonly #workers: Workers;
  readonly #mappings: Mappings;

  constructor(
    deps: Deps,
    parts: {
      cases: Cases;
      contexts: Contexts;
      tasks: TaskStore;
      erasure: Erasure;
      content: ContentDesk;
      workers: Workers;
      mappings: Mappings;
    },
  ) {
    this.#deps = deps;
    this.#cases = parts.cases;
    this.#contexts = parts.contexts;
    this.#tasks = parts.tasks;
    this.#erasure = parts.erasure;
    this.#content = parts.content;
    this.#workers = parts.workers;
    this.#mappings = parts.mappings;
  }

  /** One bounded pass. */
  async sweep(): Promise<Swept> {
    const { store, now } = this.#deps;
    const until = now().getTime();
    const keys = await store.read((reader) => reader.expired({ until, limit: passLimit }));
    const swept = { contexts: 0, tasks: 0, replies: 0, cases: 0, contents: 0 };
    for (let at = 0; at < keys.length; at += writeLimit) {
      const some = keys.slice(at, at + writeLimit);
      const done = await store.write((writer) => this.#sweep(writer, some, until));
      for (const kind of done) {
        swept[kind] += 1;
        measure('throughline.swept', 1, { kind });
      }
    }
    swept.contents = await this.#content.clear();
    return { ...swept, more: keys.length === passLimit || swept.contents === clearLimit };
  }

  async #sweep(writer: StoreWriter, keys: readonly RecordKey[], until: number): Promise<Kind[]> {
    const done: Kind[] = [];
    for (const key of keys) {
      const record = await writer.record(key);
      // It was used again, or went with something else.
      if (record?.expiresAt === undefined || record.expiresAt > until) continue;
      const kind = await this.#end(writer, record, until);
      if (kind !== undefined) done.push(kind);
    }
    return done;
  }

  async #end(writer: StoreWriter, record: StoredRecord, until: number): Promise<Kind | undefined> {
    switch (record.kind) {
      case contextRecords.kind:
        return this.#endContext(writer, record, until);
      case taskKind:
        await this.#tasks.drop(writer, record.key);
        return 'tasks';
      case workerKind:
        await this.#workers.sweep(writer, record);
        return undefined;
      case caseRecords.kind:
        return this.#endCase(writer, record, until);
      case replyRecords.kind:
        await writer.deleteRecord(record);
        return 'replies';
      default:
        if (await this.#content.expire(writer, record)) return undefined;
        await writer.deleteRecord(record);
        return undefined;
    }
  }

  /** History outlives the contexts that it was made in. */
  async #endCase(
    writer: StoreWriter,
    record: StoredRecord,
    until: number,
  ): Promise<'cases' | undefined> {
    const found = await this.#cases.get(writer, record.key);
    for (const key of found?.shape.refs ?? []) {
      const context = await writer.record({ kind: contextRecords.kind, key });
      if (context?.sealed !== undefined) return postpone(writer, record, until);
    }
    if (found !== undefined) await this.#erasure.erase(writer, found, { source: 'hub' });
    return 'cases';
  }

  async #endContext(
    writer: StoreWriter,
    record: StoredRecord,
    until: number,
  ): Promise<'contexts' | undefined> {
    const index = { context: record.key, open: 'yes' };
    if ((await this.#tasks.count(writer, index)) > 0) return postpone(writer, record, until);
    await this.#expireDialog(writer, record.key);
    await dropAll(writer, grantRecords.kind, { context: record.key });
    await this.#contexts.bury(writer, record.key);
    return 'contexts';
  }

  /** Nobody ended its Dialog; that it is over is only inferred, and later evidence withdraws it. */
  async #expireDialog(writer: StoreWriter, ref: string): Promise<void> {
    const about = await this.#mappings.find(writer, ['context', 'a2a', ref]);
    const recorder = await Recorder.start(this.#deps, writer);
    await recorder.workspace.need(about === undefined ? [] : [about]);
    const dialog = recorder.workspace.graph.dialog(about ?? '');
    if (dialog === undefined || dialog.state === 'terminated') return;
    const end = { state: 'terminated', reason: 'expired', inferred: true } as const;
    const statement = { says: 'dialog.state', ...end } as const;
    await recorder.say({ about: dialog.id, statement, basis: 'observed' }, 'hub', dialog.activity);
    const { waiting } = await recorder.flush();
    const { activity } = dialog;
    if (waiting.get(activity) === true) await this.#cases.markWaiting(writer, activity);
  }
}

async function postpone(
  writer: StoreWriter,
  { version: _before, ...record }: StoredRecord,
  until: number,
): Promise<undefined> {
  await writer.putRecord({ ...record, expiresAt: until + postponedMs });
}
