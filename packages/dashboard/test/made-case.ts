import {
  makeId,
  type Assertion,
  type CaseSummary,
  type CaseView,
  type IdKind,
  type StuckTask,
} from 'throughline/model';

/** The n-th id of a kind: the same one each time. */
export function idOf(kind: IdKind, n: number): string {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, n);
  return makeId(kind, bytes);
}

type Task = CaseView['tasks'][number];
type Dialog = CaseView['dialogs'][number];
type Relationship = CaseView['relationships'][number];

const at = '2031-05-04T10:00:00Z';

/** A case put together by hand, piece by piece. */
export class MadeCase {
  readonly activity = idOf('activity', 1);
  readonly #dialogs: Dialog[] = [];
  readonly #tasks: Task[] = [];
  readonly #relationships: Relationship[] = [];
  readonly #resources: CaseView['resources'] = [];
  readonly #participants: CaseView['participants'] = [];
  readonly #handovers: CaseView['handovers'] = [];
  readonly #runs: NonNullable<CaseView['runs']> = [];
  readonly #stuck: StuckTask[] = [];
  #edges = 0;

  participant(name: string, kind: CaseView['participants'][number]['kind'] = 'agent'): string {
    const id = idOf('participant', this.#participants.length + 1);
    this.#participants.push({ id, kind, name });
    return id;
  }

  dialog(participants: string[], more: Partial<Dialog> = {}): string {
    const id = idOf('dialog', this.#dialogs.length + 1);
    const { activity } = this;
    const base = {
      id,
      activity,
      participants,
      managed: 'ours',
      state: 'active',
      local: [],
    } as const;
    this.#dialogs.push({ ...base, local: [], ...more });
    return id;
  }

  task(dialog: string, state: Task['state'], more: Partial<Task> = {}): string {
    const id = idOf('task', this.#tasks.length + 1);
    this.#tasks.push({ id, dialog, activity: this.activity, state, ...more });
    return id;
  }

  resource(name: string): string {
    const id = idOf('resource', this.#resources.length + 1);
    this.#resources.push({ id, activity: this.activity, name });
    return id;
  }

  edge(type: string, from: string, to: string, more: Partial<Relationship> = {}): string {
    const id = idOf('relationship', ++this.#edges);
    const { activity } = this;
    const base = { id, activity, type, from, to, assertedBy: 'hub', status: 'active' } as const;
    this.#relationships.push({ ...base, ...more });
    return id;
  }

  handover(task: string, figures: Partial<CaseView['handovers'][number]>): void {
    const dialog = this.#tasks.find(({ id }) => id === task)?.dialog ?? '';
    const base = { task, dialog, agent: 'agent', withheld: [], tokenizer: 'o200k_base' };
    this.#handovers.push({ ...base, sent: 0, fullHistory: 0, ...figures });
  }

  /** What models of a run's Master used. */
  ownUsage(run: string, usage: NonNullable<CaseView['runs']>[number]['usage']): void {
    this.#runs.push({ run, usage });
  }

  /** The hub counts it as stuck. */
  stuck(task: string, why: StuckTask['why'], whose: readonly string[] = []): void {
    this.#stuck.push({ task, why, whose: [...whose] });
  }

  view(): CaseView {
    return {
      summary: summaryOf(1, { objective: 'My cash back looks wrong' }),
      activities: [{ id: this.activity, closed: false, objective: 'My cash back looks wrong' }],
      participants: [...this.#participants],
      dialogs: [...this.#dialogs],
      tasks: [...this.#tasks],
      resources: [...this.#resources],
      relationships: [...this.#relationships],
      conflicts: [],
      handovers: [...this.#handovers],
      runs: [...this.#runs],
      stuck: [...this.#stuck],
    };
  }
}

export const summaryOf = (n: number, more: Partial<CaseSummary> = {}): CaseSummary => ({
  activity: idOf('activity', n),
  contextId: `ctx-${n}`,
  openedAt: at,
  updatedAt: new Date(Date.parse(at) + n * 1_000).toISOString(),
  closed: false,
  counts: { activities: 1, dialogs: 1, tasks: 1, resources: 0, relationships: 0 },
  stuck: 0,
  ...more,
});

/** An assertion that only says in which order things were spoken of. */
export const spokenOf = (about: string, seq: number): Assertion => ({
  id: idOf('assertion', seq),
  seq,
  about,
  source: 'hub',
  basis: 'reported',
  recordedAt: new Date(Date.parse(at) + seq * 1_000).toISOString(),
  statement: { says: 'activity.closed' },
});
