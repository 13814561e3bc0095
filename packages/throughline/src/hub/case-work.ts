import { ThroughlineError } from '../errors.ts';
import {
  causedSchema,
  correctionSchema,
  labellingSchema,
  mergedInto,
  mergingSchema,
  splittingSchema,
  undoingSchema,
  type Caused,
  type Correction,
  type DraftInput,
  type Labelling,
  type LocalContext,
  type Merging,
  type Principal,
  type Said,
  type Split,
  type Splitting,
  type Statement,
  type Undoing,
} from '../model/index.ts';
import type { StoreWriter } from '../store/store.ts';
import type { CaseAccess, OpenCase } from './case-access.ts';
import type { CaseLabels } from './case-labels.ts';
import type { Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import type { Erasure } from './erasure.ts';
import { meet, ownParty } from './meet.ts';
import type { Registries } from './observing.ts';
import { Recorder } from './recorder.ts';
import { notFound, parse } from './refusals.ts';
import { compensations } from './undo.ts';
import { namedIn } from './workspace.ts';

export interface WorkParts {
  readonly access: CaseAccess;
  readonly contexts: Contexts;
  readonly registries: Registries;
  readonly labels: CaseLabels;
  readonly erasure: Erasure;
}

/** A change of a case that somebody makes by hand. */
interface Change {
  readonly writer: StoreWriter;
  readonly recorder: Recorder;
  readonly open: OpenCase;
  /** Says something by hand; gives the assertion's id, the last one's where nothing changed. */
  readonly say: (
    about: string,
    statement: Statement,
    cause?: string,
  ) => Promise<string | undefined>;
}

/**
 * What people do with a case, by its owner or an operator. Each step is an assertion by hand
 * (`supervised`) under the name of whoever does it.
 */
export class CaseWork {
  readonly #deps: Deps;
  readonly #parts: WorkParts;

  constructor(deps: Deps, parts: WorkParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  close(by: Principal, id: string, given: Caused): Promise<Said> {
    const { cause } = parse(causedSchema, given, 'body');
    return this.#change(by, id, async ({ open, say }) => {
      await say(open.activity, { says: 'activity.closed' }, cause);
    });
  }

  reopen(by: Principal, id: string, given: Caused): Promise<Said> {
    const { cause } = parse(causedSchema, given, 'body');
    return this.#change(by, id, async ({ open, say }) => {
      await say(open.activity, { says: 'activity.reopened' }, cause);
    });
  }

  label(by: Principal, id: string, given: Labelling): Promise<Said> {
    const { label, cause } = parse(labellingSchema, given, 'body');
    return this.#change(by, id, async ({ open, say }) => {
      await say(open.activity, { says: 'activity.labelled', label }, cause);
    });
  }

  /** The case ends in another: it is closed, and shown with that one from then on. */
  merge(by: Principal, id: string, given: Merging): Promise<Said> {
    const { into, cause } = parse(mergingSchema, given, 'body');
    return this.#change(by, id, async ({ writer, recorder, open, say }) => {
      const { activity: from } = open;
      const { activity: to } = await this.#open(writer, by, into);
      const query = { direction: 'out', types: [mergedInto], depth: 64, limit: 1_000 } as const;
      const beyond = await writer.reach([to], query);
      if (from === to || beyond.some((each) => each.id === from)) {
        throw new ThroughlineError('invalid', 'into: the case would be merged into itself');
      }
      if ((await writer.edges([from], query)).length > 0) {
        throw new ThroughlineError('conflict', 'case: is merged already; undo that first');
      }
      await recorder.workspace.need([to]);
      const edge = this.#deps.ids.make('relationship');
      const statement = { says: 'relationship.asserted', type: mergedInto, from, to } as const;
      const first = await say(edge, statement, cause);
      await say(from, { says: 'activity.closed' }, first);
    });
  }

  /**
   * A new case that goes on from this one, under a context of its own. What was said stays where it was
   * said; tasks that the new case is about are related to it.
   */
  async split(by: Principal, id: string, given: Splitting): Promise<Split> {
    const { objective, tasks, cause } = parse(splittingSchema, given, 'body');
    const { ids } = this.#deps;
    const activity = ids.make('activity');
    let contextId = '';
    const said = await this.#change(by, id, async ({ writer, recorder, open, say }) => {
      const { graph } = recorder.workspace;
      const old = graph.activity(open.activity);
      const about = await this.#inCase(recorder, by, open, tasks);
      await recorder.workspace.need([old?.initialDialog ?? '']);
      const before = graph.dialog(old?.initialDialog ?? '');
      const owner = { ...by, id: open.record.content?.owner ?? by.id };
      const context = await this.#parts.contexts.byRef(writer, owner, open.record.shape.ref);
      if (before === undefined || context === undefined) {
        throw new ThroughlineError('unsupported', 'case: has no context of this hub to go on from');
      }
      const fresh = await this.#parts.contexts.issue(writer, owner, context.agent);
      contextId = fresh.contextId;
      const dialog = ids.make('dialog');
      const what = objective === undefined ? {} : { objective };
      const who = old?.initiator === undefined ? {} : { initiator: old.initiator };
      const first = await say(activity, { says: 'activity.opened', ...who, ...what }, cause);
      const { participants, managed, local } = before;
      await say(dialog, { says: 'dialog.opened', activity, participants, managed, ...what }, first);
      const endpoint = local[0]?.endpoint;
      const at = endpoint === undefined ? {} : { endpoint };
      const bound = { protocol: 'a2a', localId: contextId, ...at } as const;
      await say(dialog, { says: 'dialog.bound', local: bound }, first);
      await this.#parts.registries.mappings.set(writer, ['context', 'a2a', fresh.ref], dialog);
      const edge = { says: 'relationship.asserted', from: activity } as const;
      const goesOn = { ...edge, type: 'continuation-of', to: open.activity };
      await say(ids.make('relationship'), goesOn, first);
      for (const to of about) {
        await say(ids.make('relationship'), { ...edge, type: 'related-to', to }, first);
      }
      await this.#parts.registries.cases.touch(writer, activity, 0, {
        tenant: by.tenant,
        owner: owner.id,
        ref: fresh.ref,
        isInitial: true,
      });
    });
    return { ...said, activity, contextId };
  }

  correct(by: Principal, id: string, given: Correction): Promise<Said> {
    const { corrections, cause } = parse(correctionSchema, given, 'body');
    return this.#change(by, id, async ({ writer, recorder, open, say }) => {
      for (const { about: named, statement } of corrections) {
        const isNew = statement.says === 'relationship.asserted';
        const about = isNew ? this.#deps.ids.make('relationship') : (named ?? '');
        const draft: DraftInput = { about, statement };
        const ids = namedIn({ ...draft, basis: 'supervised' }).filter(
          (each) => !isNew || each !== about,
        );
        await this.#inCase(recorder, by, open, ids);
        await say(about, statement, cause);
        if (statement.says === 'dialog.bound' && recorder.conflicts.length === 0) {
          await this.#moveIn(writer, by, open, { dialog: about, local: statement.local });
        }
      }
    });
  }

  /** What comes in under a context of this hub that a Dialog is bound to belongs to that Dialog from now on. */
  async #moveIn(
    writer: StoreWriter,
    by: Principal,
    { record, activity }: OpenCase,
    { dialog, local: { protocol, localId } }: { dialog: string; local: LocalContext },
  ): Promise<void> {
    const { contexts, registries } = this.#parts;
    const owner = { ...by, id: record.content?.owner ?? by.id };
    const context = await contexts.lookup(writer, owner, localId);
    if (context?.owner !== owner.id) return;
    const name = ['context', protocol, context.ref] as const;
    const other = await registries.mappings.find(writer, name);
    if (other !== undefined && other !== dialog) {
      throw new ThroughlineError('conflict', `local: that context is ${other} already`);
    }
    await registries.mappings.set(writer, name, dialog);
    const place = { tenant: by.tenant, owner: owner.id, ref: context.ref };
    await registries.cases.touch(writer, activity, record.sort, place);
  }

  /** Says the contrary of what was said by hand, with that as its cause. */
  undo(by: Principal, id: string, given: Undoing): Promise<Said> {
    const { assertion } = parse(undoingSchema, given, 'body');
    return this.#change(by, id, async ({ recorder, open, say }) => {
      const drafts = await compensations(recorder.workspace, open.activity, assertion);
      if (drafts === undefined) throw notFound('assertion', assertion);
      const said: (string | undefined)[] = [];
      for (const { about, statement, cause } of drafts) {
        const fresh = statement.says === 'relationship.asserted';
        const object = fresh ? this.#deps.ids.make('relationship') : about;
        said.push(await say(object, statement, cause));
      }
      if (said.every((each) => each === undefined)) {
        throw new ThroughlineError('conflict', 'assertion: is undone already');
      }
    });
  }

  /** From then on nobody can read what people wrote in it; its shape stays. */
  async erase(by: Principal, id: string, given: Caused): Promise<Said> {
    const { cause } = parse(causedSchema, given, 'body');
    return this.#deps.store.write(async (writer) => {
      const { record } = await this.#parts.access.open(writer, by, id, 'manage');
      if (record.shape.erased === true) return { assertions: [] };
      const source = await this.#source(writer, by);
      const assertions = await this.#parts.erasure.erase(writer, record, { source, cause });
      return { assertions };
    });
  }

  async #open(writer: StoreWriter, by: Principal, id: string): Promise<OpenCase> {
    const open = await this.#parts.access.open(writer, by, id, 'manage');
    if (open.record.shape.erased !== true) return open;
    throw new ThroughlineError('terminal', 'case: is erased and does not change any more');
  }

  /** The Participant that stands for whoever works on the case by hand. */
  async #source(writer: StoreWriter, by: Principal): Promise<string> {
    const recorder = await Recorder.start(this.#deps, writer);
    const { participants } = this.#parts.registries;
    const source = await meet(recorder, participants, by, ownParty(by));
    await recorder.flush();
    return source;
  }

  async #change(by: Principal, id: string, work: (change: Change) => Promise<void>): Promise<Said> {
    return this.#deps.store.write(async (writer) => {
      const open = await this.#open(writer, by, id);
      const source = await this.#source(writer, by);
      const recorder = await Recorder.start(this.#deps, writer);
      await recorder.workspace.need([open.activity]);
      const say: Change['say'] = async (about, statement, cause) => {
        const before = recorder.said.length;
        const draft = { about, statement, basis: 'supervised' } as const;
        await recorder.say(cause === undefined ? draft : { ...draft, cause }, source);
        return recorder.said.length === before ? undefined : recorder.said.at(-1)?.id;
      };
      await work({ writer, recorder, open, say });
      const [conflict] = recorder.conflicts;
      if (conflict !== undefined) {
        const { rule, message } = conflict;
        throw new ThroughlineError('conflict', `${rule}: ${message}`, { details: { rule } });
      }
      await this.#finish(by, open, recorder);
      return { assertions: recorder.said.map((each) => each.id) };
    });
  }

  async #finish(by: Principal, open: OpenCase, recorder: Recorder): Promise<void> {
    const { labels, registries } = this.#parts;
    const { writer, workspace, said } = recorder;
    const { activities, waiting, seq } = await recorder.flush();
    const place = { tenant: by.tenant, owner: open.record.content?.owner ?? by.id };
    for (const { about: activity, statement } of said) {
      if (statement.says !== 'activity.labelled') continue;
      const { name } = statement.label;
      const value = workspace.graph.activity(activity)?.labels?.[name];
      await labels.set(writer, { ...place, activity, seq }, name, value);
    }
    for (const activity of activities) {
      const waits = waiting.get(activity);
      await registries.cases.touch(writer, activity, seq, { ...place, waits });
    }
  }

  /** Our ids of things, all of which must be in the case. */
  async #inCase(
    { workspace }: Recorder,
    by: Principal,
    { activity }: OpenCase,
    given: readonly string[],
  ): Promise<string[]> {
    const found: string[] = [];
    for (const id of given) {
      const ours = await this.#parts.access.resolve(workspace.reader, by, id);
      const holder = await this.#parts.access.activityOf(workspace.reader, ours);
      if (ours === undefined || holder !== activity) throw notFound('object', id);
      found.push(ours);
    }
    await workspace.need(found);
    return found;
  }
}
