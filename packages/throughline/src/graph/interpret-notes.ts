import type { DraftInput, Observation } from '../model/index.ts';
import type { Graph } from './graph.ts';
import { compact } from './refusal.ts';

type Made = 'participant' | 'activity' | 'dialog' | 'task' | 'resource' | 'relationship';

/** Gives a new public id of that kind at each call. */
export type MakeId = (kind: Made) => string;

/** What an envelope names. */
interface Named {
  readonly dialog: string;
  readonly task?: string | undefined;
  /** Which of them it says goes on under the protocol-local id that it came with. */
  readonly rebinds?: readonly string[];
}

/** What the hub found out about an observation, by its indexes and its rules of access. */
export interface Resolved {
  /**
   * The slice that the observation may touch: the Dialogs and Tasks named here, Resources of their
   * Activity with what leads out of them, what the envelope relates, both Participants. Being in the
   * slice gives nothing a say: only what is named here does.
   */
  readonly graph: Graph;
  /** Dialog that the contextId means for this client; the newest where one continued another. */
  readonly dialog?: string | undefined;
  /** Task that the taskId means in that Dialog. Absent: looked for among the Tasks of the Dialog. */
  readonly task?: string | undefined;
  /** Participant ids; one that is not in the slice is made known, an absent one gets a new id. */
  readonly client?: string | undefined;
  readonly server?: string | undefined;
  /** What the envelope names, once it is sure that the sender may speak for it. */
  readonly envelope?: Named | undefined;
  /** Tasks that the referenceTaskIds mean, as far as the caller may see them. */
  readonly references?: readonly string[];
}

/** What is being written down about one observation. */
export class Notes<O extends Observation = Observation> {
  readonly seen: O;
  readonly resolved: Resolved;
  readonly makeId: MakeId;
  readonly drafts: DraftInput[] = [];
  readonly #related = new Set<string>();

  constructor(seen: O, resolved: Resolved, makeId: MakeId) {
    this.seen = seen;
    this.resolved = resolved;
    this.makeId = makeId;
  }

  get graph(): Graph {
    return this.resolved.graph;
  }

  /** The server speaks of its own work; the client only sees the answers. */
  get basis(): 'reported' | 'observed' {
    return this.seen.side === 'server' ? 'reported' : 'observed';
  }

  say(about: string, statement: DraftInput['statement']): void {
    this.drafts.push({
      about,
      statement: compact(statement),
      basis: this.basis,
      assertedAt: this.seen.at,
    });
  }

  /** Says a relationship that is not known yet. */
  relate(type: string, from: string, to: string, role?: string): void {
    const known = this.graph.out(from, [type]).some((edge) => edge.to === to);
    const key = `${type} ${from} ${to}`;
    if (known || from === to || this.#related.has(key)) return;
    this.#related.add(key);
    this.say(this.makeId('relationship'), {
      says: 'relationship.asserted',
      type,
      from,
      to,
      role,
    });
  }
}
