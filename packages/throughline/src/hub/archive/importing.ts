import { ThroughlineError } from '../../errors.ts';
import { idKind } from '../../model/index.ts';
import type { StoreReader, StoredLogEntry } from '../../store/index.ts';
import type { ObjectPlace } from '../content-objects.ts';
import type { Deps } from '../deps.ts';
import { Recorder } from '../recorder.ts';
import { problemInContent, putBytes } from './content-lines.ts';
import { firstHash, problemIn, takenFrom } from './entry-taken.ts';
import { readLines, type OpenFile } from './line-reader.ts';
import { badLine, type Line, type LineOf } from './lines.ts';
import { putRecord, type PutParts } from './record-puts.ts';

export interface ImportOptions {
  /** Told after each batch, of lines so far and of all. */
  readonly onProgress?: (done: number, all: number) => void;
}

export interface Imported {
  readonly lines: number;
  /** Cases in the file, and those of them that were here already. */
  readonly cases: number;
  readonly known: number;
  readonly entries: number;
}

/** Lines, and bytes of them, that are written together. */
const batchLines = 200;
const batchBytes = 4_194_304;

/** What the first look at a file found. */
interface Survey {
  readonly lines: number;
  readonly entries: number;
  readonly cases: ReadonlyMap<string, LineOf<'case'>>;
  /** Cases that are here whole. */
  readonly known: ReadonlySet<string>;
}

/**
 * Takes in a file of `Exporting`, in two passes: the first reads all of it and writes nothing, so that a
 * bad file leaves nothing; the second writes batch by batch. Killed in between, it is run again: what is
 * there is passed over. A case is seen by nobody before its last line.
 */
export class Importing {
  readonly #deps: Deps;
  readonly #parts: PutParts;
  /** Number here of the last entry of each case in the file. */
  readonly #last = new Map<string, number>();

  constructor(deps: Deps, parts: PutParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** Throws `invalid`, `too-large`, `newer-version`, `unsupported`, `damaged` or `conflict` before it writes. */
  async import(open: OpenFile, options: ImportOptions = {}): Promise<Imported> {
    const survey = await this.#survey(open);
    let batch: Line[] = [];
    let bytes = 0;
    let done = 0;
    const flush = async (): Promise<void> => {
      const lines = batch;
      [batch, bytes] = [[], 0];
      await this.#write(lines, survey);
      done += lines.length;
      options.onProgress?.(done, survey.lines);
    };
    for await (const { line, size } of readLines(open)) {
      batch.push(line);
      bytes += size;
      if (batch.length >= batchLines || bytes >= batchBytes) await flush();
    }
    await flush();
    const { lines, entries, cases, known } = survey;
    return { lines, entries, cases: cases.size, known: known.size };
  }

  async #survey(open: OpenFile): Promise<Survey> {
    const cases = new Map<string, LineOf<'case'>>();
    const known = new Set<string>();
    /** Activities that the entries are about, and whether this hub has all of them. */
    const isWhole = new Map<string, boolean>();
    const tasks = new Set<string>();
    const later: { activity: string; at: number }[] = [];
    let [lines, entries] = [0, 0];
    for await (const { line, at } of readLines(open)) {
      lines += 1;
      if (line.kind === 'entry') {
        entries += 1;
        const problem = problemIn(line);
        if (problem !== undefined) throw badLine(at, problem);
        const isHere = await this.#isHere(line, at);
        const { activity, about } = line;
        if (idKind(about) === 'task') tasks.add(about);
        if (activity !== undefined) {
          isWhole.set(activity, isHere && (isWhole.get(activity) ?? true));
        }
      } else if (line.kind === 'case') {
        if (cases.has(line.id)) throw badLine(at, `${line.id} is there twice`);
        cases.set(line.id, line);
        const isKnown = await this.#isKnown(line, isWhole.get(line.id) ?? false, at);
        if (isKnown) known.add(line.id);
      } else if (line.kind === 'content') {
        const problem = problemInContent(line);
        if (problem !== undefined) throw badLine(at, problem);
        later.push({ activity: line.activity, at });
      } else if ('activity' in line) {
        const task = taskIn(line);
        if (task !== undefined && !tasks.has(task))
          throw badLine(at, `${task} is not in the entries before`);
        later.push({ activity: line.activity, at });
      }
    }
    for (const activity of isWhole.keys()) {
      if (!cases.has(activity)) throw badLine(lines + 1, `${activity} has entries and no case`);
    }
    const lost = later.find(({ activity }) => !cases.has(activity));
    if (lost !== undefined) throw badLine(lost.at, `${lost.activity} is no case of the file`);
    return { lines, entries, cases, known };
  }

  /** Whether an entry is here; `conflict` when it is here as another one. */
  async #isHere(line: LineOf<'entry'>, at: number): Promise<boolean> {
    const found = await this.#deps.store.read((reader) => entryHere(reader, line.id));
    if (found === undefined) return false;
    if (firstHash(found) === line.hash) return true;
    throw conflict(at, `${line.id} is here already, and says something else`);
  }

  /** Whether a case is here; `conflict` when it has another history here, or was erased. */
  async #isKnown(line: LineOf<'case'>, isWhole: boolean, at: number): Promise<boolean> {
    const found = await this.#deps.store.read((reader) =>
      this.#parts.registries.cases.get(reader, line.id),
    );
    if (found === undefined) return false;
    if (isWhole) return true;
    const why = found.shape.erased === true ? 'was erased here' : 'is here with another history';
    throw conflict(at, `the case ${line.id} ${why}`);
  }

  async #write(lines: readonly Line[], { known }: Survey): Promise<void> {
    const places = new Map<string, ObjectPlace>();
    for (const line of lines) {
      if (line.kind !== 'content' || known.has(line.activity)) continue;
      const put = await putBytes(this.#deps, this.#parts.objects, line);
      if (put !== undefined) places.set(line.resource, put);
    }
    await this.#deps.store.write(async (writer) => {
      const recorder = await Recorder.start(this.#deps, writer);
      const taken = new Set<string>();
      for (const line of lines) {
        // One that is there twice counts once, as it does where it was taken in before.
        if (line.kind !== 'entry' || taken.has(line.id)) continue;
        taken.add(line.id);
        await this.#take(recorder, line);
      }
      await recorder.flush();
      for (const { activity, seq } of recorder.said) this.#note(activity, seq);
      const place = { writer, places, last: this.#last };
      for (const line of lines) {
        if (line.kind === 'entry' || known.has(activityIn(line) ?? '')) continue;
        await putRecord(this.#deps, this.#parts, place, line);
      }
    });
  }

  async #take(recorder: Recorder, line: LineOf<'entry'>): Promise<void> {
    const found = await entryHere(recorder.writer, line.id);
    if (found !== undefined) return this.#note(found.activity, found.seq);
    const taken = takenFrom(line);
    if (taken !== undefined) await recorder.take(taken);
  }

  #note(activity: string | undefined, seq: number): void {
    if (activity !== undefined) this.#last.set(activity, seq);
  }
}

async function entryHere(reader: StoreReader, id: string): Promise<StoredLogEntry | undefined> {
  const [found] = await reader.log({ after: 0, limit: 1, id });
  return found;
}

/** Task that must be in the entries. */
function taskIn(line: Line): string | undefined {
  if (line.kind === 'task') return line.task;
  return line.kind === 'handover' ? line.figures.task : undefined;
}

function activityIn(line: Line): string | undefined {
  if (line.kind === 'case') return line.id;
  return 'activity' in line ? line.activity : undefined;
}

function conflict(line: number, problem: string): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `line ${line}: ${problem}; nothing of the file was written`,
    { details: { line } },
  );
}
