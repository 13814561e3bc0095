/** What tests of a graph are told in: names instead of ids, and assertions that number themselves. */
import {
  assertionSchema,
  makeId,
  type Assertion,
  type Basis,
  type DraftInput,
  type IdKind,
  type ObjectKind,
  type ParticipantKind,
  type Statement,
} from '../model/index.ts';
import { apply, type Applied } from './fold.ts';
import { Graph } from './graph.ts';

/** The id that a name stands for: at most 15 ASCII characters, the same name the same id. */
export function named(kind: IdKind, name: string): string {
  const bytes = new Uint8Array(16);
  for (let i = 0; i < name.length && i < 16; i++) bytes[i] = name.charCodeAt(i);
  return makeId(kind, bytes);
}

interface Telling {
  readonly source?: string;
  readonly basis?: Basis;
}

const noon = '2031-01-01T12:00:00Z';

/** A graph and the assertions that it was told, each checked against the schema. */
export class Story {
  readonly graph = new Graph();
  readonly assertions: Assertion[] = [];

  /** Says it, and gives what became of it. */
  say(
    about: string,
    statement: Statement,
    { source = 'hub', basis = 'reported' }: Telling = {},
  ): Applied {
    const seq = this.assertions.length + 1;
    const assertion = assertionSchema.parse({
      id: named('assertion', `asr${seq}`),
      seq,
      about,
      statement,
      basis,
      source,
      recordedAt: noon,
    });
    this.assertions.push(assertion);
    return apply(this.graph, assertion);
  }

  sayAll(drafts: readonly DraftInput[], source = 'hub'): Applied[] {
    return drafts.map(({ about, statement, basis = 'reported' }) =>
      this.say(about, statement, { source, basis }),
    );
  }

  participant(name: string, kind: ParticipantKind = 'agent'): string {
    const id = named('participant', name);
    this.say(id, { says: 'participant.known', kind, name });
    return id;
  }

  activity(name: string, initiator?: string): string {
    const id = named('activity', name);
    this.say(id, { says: 'activity.opened', initiator, objective: name });
    return id;
  }

  dialog(name: string, activity: string, participants: string[]): string {
    const id = named('dialog', name);
    this.say(id, {
      says: 'dialog.opened',
      activity,
      participants,
      managed: 'ours',
      objective: name,
    });
    return id;
  }

  task(name: string, dialog: string): string {
    const id = named('task', name);
    this.say(id, { says: 'task.defined', dialog, objective: name });
    return id;
  }

  resource(name: string, activity: string): string {
    const id = named('resource', name);
    this.say(id, { says: 'resource.known', activity, name });
    return id;
  }

  relate(
    type: string,
    from: string,
    to: string,
    more: Pick<
      Extract<Statement, { says: 'relationship.asserted' }>,
      'role' | 'note' | 'selector'
    > = {},
    telling: Telling = {},
  ): Applied {
    const id = named('relationship', `rel${this.assertions.length}`);
    return this.say(id, { says: 'relationship.asserted', type, from, to, ...more }, telling);
  }
}

/** Ids in the order in which they are asked for, counted by kind. */
export function counter(): (kind: ObjectKind | 'relationship') => string {
  const counts = new Map<string, number>();
  return (kind) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return named(kind, `new${count}`);
  };
}

/** The rule that refused it, or `applied`. */
export function outcome(applied: Applied): string {
  return applied.applied ? 'applied' : applied.conflict.rule;
}
