import { ThroughlineError } from '../errors.ts';
import { hasSay, kindOf, mayRelate } from '../graph/index.ts';
import {
  idSchema,
  mergedInto,
  ruleOf,
  type Draft,
  type Principal,
  type Statement,
} from '../model/index.ts';
import { authorize } from './authorize.ts';
import { originOf } from './origins.ts';
import type { Participants } from './participants.ts';
import type { Recorder } from './recorder.ts';
import { notFound } from './refusals.ts';
import { namedIn } from './workspace.ts';

type Says = Statement['says'];

/**
 * What may be stated from outside, and about which of the objects in it one must have a say. What else
 * happens to a case (labels, reopening, merging, erasure) comes from the hub's own calls for that.
 */
const stated: Partial<Record<Says, (draft: Draft) => readonly string[]>> = {
  'activity.opened': () => [],
  'activity.closed': ({ about }) => [about],
  'dialog.opened': () => [],
  'dialog.state': ({ about }) => [about],
  'dialog.bound': ({ about }) => [about],
  'dialog.joined': ({ about }) => [about],
  'dialog.left': ({ about }) => [about],
  'task.defined': ({ statement }) => ('dialog' in statement ? [statement.dialog] : []),
  'task.bound': ({ about }) => [about],
  'task.state': ({ about }) => [about],
  'task.cancel-requested': ({ about }) => [about],
  'task.unresolved': ({ about }) => [about],
  'resource.known': () => [],
  'relationship.asserted': () => [],
  'relationship.revoked': () => [],
};

const kinds = ['activity', 'dialog', 'task', 'resource', 'relationship'] as const;

/** What shows in a statement alone, whatever there is: the answer tells nothing of what exists. */
export function checkForm(by: Principal, { about, statement, basis }: Draft): void {
  const { says } = statement;
  if (says === 'participant.known') {
    throw new ThroughlineError('invalid', 'about: Participants are made known by asking for them');
  }
  const isMerge = says === 'relationship.asserted' && statement.type === mergedInto;
  if (stated[says] === undefined || isMerge) {
    throw new ThroughlineError(
      'invalid',
      `says: ${isMerge ? mergedInto : says} is not stated from outside; use the call for cases`,
    );
  }
  const kind = kinds.find((each) => says.startsWith(`${each}.`));
  if (kind === undefined || !idSchema(kind).safeParse(about).success) {
    throw new ThroughlineError('invalid', `about: must be the id of a ${kind}`);
  }
  if (basis === 'supervised' && by.role !== 'operator') {
    throw new ThroughlineError('invalid', 'basis: supervised is the word of operators');
  }
}

/** What one Participant may state about what there is. */
export class Standing {
  readonly #recorder: Recorder;
  readonly #participants: Participants;
  readonly #by: Principal;
  /** The Participant whose word it is. */
  readonly source: string;
  /** Activities with a Participant that takes part in them; nobody leaves one meanwhile. */
  readonly #met = new Set<string>();

  constructor(
    recorder: Recorder,
    participants: Participants,
    { by, source }: { by: Principal; source: string },
  ) {
    this.#recorder = recorder;
    this.#participants = participants;
    this.#by = by;
    this.source = source;
  }

  /** Gives the draft as it may be said; `not-found` for what it has no say about. */
  async check(draft: Draft): Promise<Draft> {
    const { about, statement } = draft;
    const { graph } = this.#recorder.workspace;
    const { source } = this;
    const isNew = graph.object(about) === undefined && graph.relationship(about) === undefined;
    if (await this.#isClaim(draft)) return draft;
    for (const id of namedIn(draft))
      if (id !== about || !isNew || !opens(draft)) await this.#meets(id);
    for (const id of stated[statement.says]?.(draft) ?? []) {
      if (!hasSay(graph, source, id)) throw notFound('object', id);
    }
    const { says } = statement;
    if (says === 'resource.known') return this.#onlyMore(draft, statement);
    if (says === 'relationship.asserted') await this.#checkRelation(statement);
    if (says === 'relationship.revoked' && graph.relationship(about)?.assertedBy !== source) {
      throw notFound('relationship of your own', about);
    }
    if (says === 'dialog.left') {
      const may = [statement.participant, graph.dialog(about)?.invoker];
      if (!may.includes(source)) throw notFound('participant of your own', statement.participant);
    }
    if (says === 'activity.opened' && (statement.initiator ?? source) !== source) {
      throw new ThroughlineError('invalid', 'initiator: must be your own Participant or left out');
    }
    if (says === 'dialog.opened' && statement.participants[0] !== source) {
      throw new ThroughlineError(
        'invalid',
        'participants: must name your own Participant first, as the one that opens the Dialog',
      );
    }
    return draft;
  }

  /**
   * Lineage from a Task that it has a say about to one in a Dialog that it is not in: nothing it could
   * know, so it is kept as an unverified claim. The answer is the same whether that Task is there.
   */
  async #isClaim({ statement }: Draft): Promise<boolean> {
    if (statement.says !== 'relationship.asserted') return false;
    const { type, from, to } = statement;
    if (!ruleOf(type).acyclic || [from, to].some((id) => kindOf(id) !== 'task')) return false;
    const { graph } = this.#recorder.workspace;
    if (!hasSay(graph, this.source, from) || hasSay(graph, this.source, to)) return false;
    await this.takesPart(from);
    return true;
  }

  /** Refuses unless the object is in an Activity that the Participant takes part in. */
  async takesPart(id: string): Promise<void> {
    const { graph } = this.#recorder.workspace;
    const activity = graph.activityOf(id) ?? graph.relationship(id)?.activity;
    const takesPart = activity !== undefined && (await this.#isIn(activity, this.source));
    const { tenant } = this.#by;
    authorize(this.#by, 'assert', { tenant, takesPart }, () => notFound('object', id));
  }

  async #isIn(activity: string, participant: string): Promise<boolean> {
    const { reader } = this.#recorder.workspace;
    const name = `${activity}/${participant}`;
    const isIn =
      this.#met.has(name) || (await this.#participants.takesPart(reader, activity, participant));
    if (isIn) this.#met.add(name);
    return isIn;
  }

  /** Participants of the tenant may be named; all else only where one takes part. */
  async #meets(id: string): Promise<void> {
    if (kindOf(id) !== 'participant') return this.takesPart(id);
    const { reader } = this.#recorder.workspace;
    if (id === this.source) return;
    if (await this.#participants.isOf(reader, this.#by.tenant, id)) return;
    throw notFound('participant', id);
  }

  async #checkRelation(
    statement: Extract<Statement, { says: 'relationship.asserted' }>,
  ): Promise<void> {
    const { from, to } = statement;
    const { graph } = this.#recorder.workspace;
    const own = new Set<string>();
    for (const id of [from, to]) {
      if (kindOf(id) === 'resource' && (await this.#isMaker(id))) own.add(id);
      if (kindOf(id) !== 'participant' || id === this.source) continue;
      // Whom one has not met in the Activity does not exist for one.
      const activity = graph.activityOf(id === from ? to : from) ?? '';
      if (!(await this.#isIn(activity, id))) {
        throw notFound('participant', id);
      }
    }
    if (!mayRelate(graph, this.source, statement, (id) => own.has(id))) {
      const unsaid = own.has(from) || hasSay(graph, this.source, from) ? to : from;
      throw notFound('object', unsaid);
    }
  }

  /** Of a Resource of somebody else, what is known stays as it was said first. */
  async #onlyMore(
    draft: Draft,
    statement: Extract<Statement, { says: 'resource.known' }>,
  ): Promise<Draft> {
    const { about } = draft;
    const { workspace } = this.#recorder;
    const { graph } = workspace;
    const known = graph.resource(about);
    if (known === undefined || (await this.#isMaker(about))) return draft;
    await workspace.needLineage([about]);
    if (!hasSay(graph, this.source, about)) throw notFound('object', about);
    const { name, mediaType, locator } = known;
    const stays = {
      ...(name === undefined ? {} : { name }),
      ...(mediaType === undefined ? {} : { mediaType }),
      ...(locator === undefined ? {} : { locator }),
    };
    return { ...draft, statement: { ...statement, ...stays } };
  }

  /** Whether this Participant made the object known. */
  async #isMaker(about: string): Promise<boolean> {
    const { said, workspace } = this.#recorder;
    const origin = workspace.born.has(about)
      ? await originOf(workspace.reader, about)
      : said.find((each) => each.about === about)?.source;
    return origin === this.source;
  }
}

const opens = ({ statement }: Draft): boolean =>
  ['opened', 'defined', 'known', 'asserted'].includes(statement.says.split('.')[1] ?? '');
