import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { apply } from '../graph/index.ts';
import {
  draftSchema,
  type Assertion,
  type Conflict,
  type Draft,
  type DraftInput,
  type Party,
  type Principal,
  type Statement,
} from '../model/index.ts';
import type { Json, LogEntry, StoreWriter } from '../store/store.ts';
import { encodeEdge, encodeObject, activityOf, scopeOf, splitContent } from './graph-codec.ts';
import type { Deps } from './deps.ts';
import { Mappings } from './mappings.ts';
import { takePart } from './participants.ts';
import { Records, toJson } from './records.ts';
import type { KeyBox } from './vault.ts';
import { waitingAmong, type Waiting } from './waiting.ts';
import { Workspace } from './workspace.ts';

/** Assertions that were kept without being applied. */
export const conflictRecords = new Records(
  'conflict',
  z.object({
    activity: z.string().optional(),
    assertion: z.string(),
    seq: z.int(),
    about: z.string(),
    rule: z.string(),
  }),
  z.object({ message: z.string() }),
);

/** What was recorded before, here or in another domain. */
export interface Taken {
  readonly assertion: Omit<Assertion, 'seq'>;
  /** As it is to stand in the log. */
  readonly shape: Json;
  /** What its commitment covers, with the salt of that; absent where it was destroyed. */
  readonly content?: { readonly salt: Uint8Array; readonly value: unknown } | undefined;
  /** Rule that it broke then, where too little is left of it to find that out again. */
  readonly broke?: Conflict['rule'] | undefined;
}

/** What a flushed recording changed. */
export interface Recorded {
  readonly activities: ReadonlySet<string>;
  readonly waiting: Waiting;
  readonly seq: number;
}

/**
 * Turns drafts into numbered assertions within one write: folds each into the graph at once, so that
 * the next one sees it, and writes log, objects, edges and conflicts together at the end. A draft
 * that changes nothing leaves nothing.
 */
export class Recorder {
  readonly workspace: Workspace;
  readonly #deps: Deps;
  readonly #mappings: Mappings;
  readonly #observer: Principal | undefined;
  readonly #writer: StoreWriter;
  readonly #at: Date;
  readonly #said: Assertion[] = [];
  readonly #taken = new Map<string, Taken>();
  readonly #conflicts: { conflict: Conflict; activity: string | undefined }[] = [];
  /** Number of the latest and of the first assertion here that changed each. */
  readonly #changed = new Map<string, number>();
  readonly #began = new Map<string, number>();
  #next: number;

  /** `observer`: finds again the tasks that are bound here, by what it knows: their local ids. */
  static async start(deps: Deps, writer: StoreWriter, observer?: Principal): Promise<Recorder> {
    return new Recorder(deps, writer, (await writer.head()).seq + 1, observer);
  }

  private constructor(
    deps: Deps,
    writer: StoreWriter,
    next: number,
    observer: Principal | undefined,
  ) {
    this.#deps = deps;
    this.#mappings = new Mappings(deps);
    this.#observer = observer;
    this.#writer = writer;
    this.#next = next;
    this.#at = deps.now();
    this.workspace = new Workspace(deps.vault, writer);
  }

  get writer(): StoreWriter {
    return this.#writer;
  }

  /** What was said and applied or kept since the start. */
  get said(): readonly Assertion[] {
    return this.#said;
  }

  /** What was kept without being applied since the start. */
  get conflicts(): readonly Conflict[] {
    return this.#conflicts.map(({ conflict }) => conflict);
  }

  /** `source`: a Participant's id, or `hub`; `near`: the Activity that it is said in, if known. */
  say(input: DraftInput, source: string, near?: string): Promise<void> {
    return this.sayParsed(draftSchema.parse(input), source, near);
  }

  /** The same of what was looked at on its way in. */
  async sayParsed(draft: Draft, source: string, near?: string): Promise<void> {
    await this.workspace.prepare(draft);
    await this.#needTwin(draft);
    const activity = this.#activityOf(draft, near);
    const assertion: Assertion = {
      ...draft,
      ...this.#clip(draft.assertedAt),
      id: this.#deps.ids.make('assertion'),
      seq: this.#next,
      ...(activity === undefined ? {} : { activity }),
      source,
      recordedAt: this.#at.toISOString(),
    };
    await this.#apply(assertion);
  }

  /** Folds what was recorded before as it was then, under its own id and time and a number of here. */
  async take(taken: Taken): Promise<void> {
    const assertion = { ...taken.assertion, seq: this.#next };
    const { id, seq, about, activity } = assertion;
    this.#taken.set(id, taken);
    if (taken.broke === undefined) {
      await this.workspace.prepare(assertion);
      await this.#needTwin(assertion);
      await this.#apply(assertion);
      return;
    }
    this.#next += 1;
    this.#said.push(assertion);
    const conflict = { assertion: id, seq, about, rule: taken.broke, message: 'erased' };
    this.#conflicts.push({ conflict, activity });
  }

  async #apply(assertion: Assertion): Promise<void> {
    const { graph } = this.workspace;
    const { activity } = assertion;
    graph.settle();
    const result = apply(graph, assertion);
    const changed = [...graph.changes.objects, ...graph.changes.relationships];
    if (result.applied && changed.length === 0 && !this.#taken.has(assertion.id)) return;
    this.#next += 1;
    this.#said.push(assertion);
    for (const id of changed) {
      this.#changed.set(id, assertion.seq);
      if (!this.#began.has(id)) this.#began.set(id, assertion.seq);
    }
    if (!result.applied) this.#conflicts.push({ conflict: result.conflict, activity });
    else if (activity !== undefined) await this.#follow(activity, assertion);
  }

  /** Inside one Dialog a protocol-local id names one Task: the fold must see the one it names now. */
  async #needTwin({ about, statement }: Draft): Promise<void> {
    if (statement.says !== 'task.bound') return;
    const dialog = this.workspace.graph.task(about)?.dialog ?? '';
    const twin = await this.#mappings.find(this.#writer, ['task', dialog, statement.localId]);
    if (twin !== undefined) await this.workspace.need([twin]);
  }

  /** What is looked up by other names changes with the graph. */
  async #follow(activity: string, { about, statement }: Draft): Promise<void> {
    if (statement.says === 'task.bound') {
      const dialog = this.workspace.graph.task(about)?.dialog ?? '';
      const seenBy = this.#observer && this.#mappings.seen(this.#observer, statement.localId);
      await this.#mappings.set(this.#writer, ['task', dialog, statement.localId], about, seenBy);
    }
    await this.#join(activity, statement);
  }

  /** Whoever opens, is in or joins a Dialog of an Activity takes part in it. */
  async #join(activity: string, statement: Statement): Promise<void> {
    const joined = [
      ...('participants' in statement ? statement.participants : []),
      ...('participant' in statement ? [statement.participant] : []),
      ...('initiator' in statement && statement.initiator !== undefined
        ? [statement.initiator]
        : []),
    ];
    await takePart(this.#deps, this.#writer, activity, joined);
  }

  /** States what a Participant is, or what is not known of it yet; `isFirst`: in its own first word. */
  async introduce(
    id: string,
    party: Party,
    { source, isFirst = false }: { source: string; isFirst?: boolean },
  ): Promise<void> {
    await this.workspace.need([id]);
    const known = this.workspace.graph.participant(id);
    const { kind, name, url } = isFirst ? { ...known, ...party } : { ...party, ...known };
    // Told at each meeting, and news at the first of them as a rule.
    if (known?.kind === kind && known.name === name && known.url === url) return;
    const named = {
      ...(name === undefined ? {} : { name }),
      ...(url === undefined ? {} : { url }),
    };
    await this.say({ about: id, statement: { says: 'participant.known', kind, ...named } }, source);
  }

  /** Writes everything. Call once, last. */
  async flush(): Promise<Recorded> {
    const entries: LogEntry[] = [];
    for (const assertion of this.#said) entries.push(await this.#entry(assertion));
    const appended = entries.length === 0 ? [] : await this.#writer.append(entries);
    if (appended.some(({ seq }, i) => seq !== this.#said[i]?.seq)) {
      throw new ThroughlineError(
        'internal',
        'the store numbered assertions otherwise than in turn',
      );
    }
    for (const [id, seq] of this.#changed) await this.#write(id, seq);
    for (const each of this.#conflicts) await this.#keep(each);
    const activities = new Set(this.#said.flatMap(({ activity }) => activity ?? []));
    const { graph } = this.workspace;
    const waiting = await waitingAmong(this.#writer, graph, this.#changed.keys());
    return { activities, waiting, seq: this.#next - 1 };
  }

  /** A source's clock that runs ahead is clipped to ours, and by how much is noted. */
  #clip(assertedAt: string | undefined): Pick<Assertion, 'assertedAt' | 'skewMs'> {
    if (assertedAt === undefined) return {};
    const skewMs = Date.parse(assertedAt) - this.#at.getTime();
    return skewMs > 0 ? { assertedAt: this.#at.toISOString(), skewMs } : { assertedAt };
  }

  #activityOf({ about, statement }: Draft, near: string | undefined): string | undefined {
    if (statement.says === 'participant.known') return undefined;
    if (statement.says === 'activity.opened') return about;
    if ('activity' in statement) return statement.activity;
    const { graph } = this.workspace;
    const named = [
      about,
      ...('dialog' in statement ? [statement.dialog] : []),
      ...endsOf(statement),
    ];
    for (const id of named) {
      const activity = graph.activityOf(id) ?? graph.relationship(id)?.activity;
      if (activity !== undefined) return activity;
    }
    return near;
  }

  #box(scope: string): Promise<KeyBox> {
    return this.workspace.boxes.make(this.#writer, scope);
  }

  async #entry(assertion: Assertion): Promise<LogEntry> {
    const { id, about, activity, statement, seq: _seq, ...rest } = assertion;
    const taken = this.#taken.get(id);
    if (taken !== undefined) return this.#again(taken);
    const { shape, content } = splitContent(statement);
    const entry = { id, about, ...(activity === undefined ? {} : { activity }) };
    if (content === undefined) return { ...entry, shape: toJson({ ...rest, statement: shape }) };
    const box = await this.#box(scopeOf(about, activity));
    const { sealed, commitment } = box.seal(`log/${id}`, content);
    return { ...entry, shape: toJson({ ...rest, statement: shape, commitment }), sealed };
  }

  async #again({ assertion, shape, content }: Taken): Promise<LogEntry> {
    const { id, about, activity } = assertion;
    const entry = { id, about, ...(activity === undefined ? {} : { activity }), shape };
    if (content === undefined) return entry;
    const box = await this.#box(scopeOf(about, activity));
    return { ...entry, sealed: box.seal(`log/${id}`, content.value, content.salt).sealed };
  }

  async #write(id: string, seq: number): Promise<void> {
    const { graph, born } = this.workspace;
    const at = { born: born.get(id) ?? this.#began.get(id) ?? seq, seq };
    const object = graph.object(id);
    if (object !== undefined) {
      const box = await this.#box(scopeOf(id, activityOf(object)));
      await this.#writer.putObject(encodeObject(object, at, box));
      return;
    }
    const edge = graph.relationship(id);
    if (edge === undefined) return;
    await this.#writer.putEdge(encodeEdge(edge, at, await this.#box(edge.activity)));
  }

  async #keep({ conflict, activity }: { conflict: Conflict; activity: string | undefined }) {
    const { message, ...shape } = conflict;
    await conflictRecords.put(this.#writer, await this.#box(scopeOf(conflict.about, activity)), {
      key: conflict.assertion,
      sort: conflict.seq,
      index: { activity: activity ?? 'none' },
      activity,
      shape: { ...shape, ...(activity === undefined ? {} : { activity }) },
      content: { message },
      expected: 0,
    });
  }
}

const endsOf = (statement: Statement): string[] =>
  'from' in statement ? [statement.from, statement.to] : [];
