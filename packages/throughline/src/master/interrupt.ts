import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { contentRefSchema } from '../model/content.ts';
import { foreignId, shortText } from '../model/ids.ts';
import { decisions, type Decision, type SubtaskStatus } from '../model/run.ts';
import type { Usage } from '../model/usage.ts';
import { subtaskSchema, type Subtask } from '../model/workflow.ts';
import { requirementDrafts, requirementUses } from './assertions.ts';
import { checkPlan } from './check-plan.ts';
import type { RunContext } from './context.ts';
import { affectedBy } from './lineage.ts';
import { offload } from './offer.ts';
import type { MasterPorts } from './ports.ts';
import {
  isDone,
  mostInterruptions,
  openAttempt,
  type Interruption,
  type RunItem,
  type RunState,
  type Stop,
} from './run-state.ts';
import { progressOf } from './task-context.ts';
import { asWorkflow } from './workflow.ts';

const inputSchema = z.strictObject({
  /** Names this input: the same again is taken once. Default: a new one. */
  id: foreignId.optional(),
  /** What changes, in whatever form it came. */
  content: z.union([z.string(), z.instanceof(Uint8Array), contentRefSchema]),
  mediaType: z.string().min(1).max(255).default('text/plain'),
  /** Tells agents what it is. */
  description: shortText.default('A later requirement, which goes before what was said earlier'),
  /** What was said, where `content` is a recording. */
  transcript: z.string().optional(),
  /** Name of the context item that it corrects. Default: the request as a whole. */
  about: foreignId.optional(),
});
/** A barge-in: something that the user says while the run goes on. */
export type InterruptInput = z.input<typeof inputSchema>;

/** What is to be decided: everything that depends on what the input modifies. */
export interface ReplanRequest {
  readonly query: string;
  readonly input: string;
  readonly affected: readonly {
    readonly subtask: string;
    readonly name: string;
    readonly agent: string;
    /** Who may replace it by the plan. */
    readonly others: readonly string[];
    readonly status: SubtaskStatus;
  }[];
  /** Counts what a model used for it. */
  readonly spent: (usage: Omit<Usage, 'money'>) => void;
  readonly signal: AbortSignal;
}

const replannedSchema = z.strictObject({
  decisions: z
    .array(
      z.strictObject({
        subtask: foreignId,
        decision: z.enum(decisions),
        /** Who takes over, with `replace`: another agent. Default: one that the plan names as fallback. */
        agent: foreignId.optional(),
      }),
    )
    .max(256),
  /** Further subtasks; they get the input when they need it by the name `input`. */
  add: z.array(subtaskSchema).max(64).default([]),
});
export type Replanned = z.input<typeof replannedSchema>;

/** Decides for each affected subtask; what it leaves out is kept as it is. */
export type Replanner = (request: ReplanRequest) => Promise<Replanned> | Replanned;

/**
 * What is done where nobody decides otherwise: everything that depends on what was changed gets the change,
 * and what of it was begun or over already is done anew, by the same agent, in a Dialog that goes on from
 * the one before. Nothing else is touched.
 */
export const redoWhatDepends: Replanner = ({ affected }) => ({
  decisions: affected.map(({ subtask }) => ({ subtask, decision: 'modify' as const })),
});

export interface InterruptGround {
  readonly ports: Pick<MasterPorts, 'newId' | 'putContent'>;
  readonly agents: readonly string[];
  readonly replan: Replanner;
  readonly spent: (usage: Omit<Usage, 'money'>) => Usage;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

/**
 * Works out what an input means for a run. Nothing has happened yet: what comes back is to be written as one
 * decision.
 *
 * @throws ThroughlineError `invalid` for an input or decision that does not fit, `terminal` for a run that
 *   is over.
 */
export async function planInterruption(
  ground: InterruptGround,
  state: RunState,
  given: InterruptInput,
): Promise<{ interruption: Interruption; apply: (draft: RunState) => void }> {
  const input = asInput(given);
  refuseOver(state);
  const { ports, now } = ground;
  const target = modified(state, input.about);
  const items = await itemsOf(ports, state, input);
  const affected = affectedBy(state, target);
  const names = items.map(({ name }) => name);
  const { used, ...replanned } = await decided(ground, state, { affected, words: wordsOf(input) });
  const { add, decisions: made } = checked(ground, state, { ...replanned, names, affected });
  const concerned = made.filter(({ decision }) => decision !== 'keep');
  const interruption: Interruption = {
    id: input.id ?? ports.newId('message'),
    at: now().toISOString(),
    items: names,
    modifies: target,
    decisions: made,
    added: add.map(({ id }) => id),
    inputs: concerned.flatMap(({ subtask }) => {
      const task = state.subtasks[subtask]?.attempts.at(-1)?.task;
      return task === undefined ? [] : [{ task, edge: ports.newId('relationship') }];
    }),
    edges: { modifies: ports.newId('relationship'), derived: ports.newId('relationship') },
  };
  return {
    interruption,
    apply: (draft) => {
      refuseOver(draft);
      draft.items.push(...items);
      draft.workflow.subtasks.push(...add);
      for (const { id } of add) draft.subtasks[id] = { status: 'waiting', attempts: [], past: 0 };
      for (const each of concerned) change(draft, interruption, each);
      draft.interruptions.push(interruption);
      draft.planning.push(...used);
      draft.revision += 1;
      draft.taskContext = progressOf(draft, now());
    },
  };
}

function asInput(given: InterruptInput): z.output<typeof inputSchema> {
  const parsed = inputSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ThroughlineError(
    'invalid',
    `The interruption is not valid:\n${z.prettifyError(parsed.error)}`,
  );
}

function refuseOver(state: RunState): void {
  if (state.interruptions.length >= mostInterruptions) {
    throw new ThroughlineError(
      'too-large',
      `Run ${state.id} was interrupted ${mostInterruptions} times; make a new request instead.`,
    );
  }
  if (!isDone(state) && state.ending === undefined) return;
  throw new ThroughlineError('terminal', `Run ${state.id} is over; make a new request instead.`);
}

/** What the input modifies: an item's Resource, or the run's Task. */
function modified(state: RunState, about: string | undefined): string {
  if (about === undefined) return state.task;
  const item = state.items.find(({ name }) => name === about);
  if (item !== undefined) return item.ref.resource;
  throw new ThroughlineError(
    'invalid',
    `about: the run has no item ${about}; it has ${state.items.map(({ name }) => name).join(', ')}.`,
  );
}

function itemsOf(
  ports: InterruptGround['ports'],
  state: RunState,
  input: z.output<typeof inputSchema>,
): Promise<RunItem[]> {
  const { content, mediaType, description, transcript } = input;
  const name = freeName(state, 'input');
  const common = { description, priority: 'must_preserve', role: 'requirement' } as const;
  const type = mediaType.startsWith('text/') ? 'text' : 'other';
  return offload(ports, state.activity, [
    { ...common, name, type, mediaType, content },
    ...(transcript === undefined
      ? []
      : [
          {
            ...common,
            name: `${name}-transcript`,
            type: 'text' as const,
            mediaType: 'text/plain',
            content: transcript,
          },
        ]),
  ]);
}

function freeName({ items, workflow }: RunState, base: string): string {
  const made = workflow.subtasks.flatMap(({ produces }) => produces.map(({ name }) => name));
  const taken = new Set([...items.map(({ name }) => name), ...made]);
  for (let at = 1; ; at++) if (!taken.has(`${base}-${at}`)) return `${base}-${at}`;
}

const wordsOf = ({ content, transcript, description }: z.output<typeof inputSchema>): string =>
  transcript ?? (typeof content === 'string' ? content : description);

async function decided(
  { replan, signal, spent }: InterruptGround,
  state: RunState,
  { affected, words }: { affected: readonly string[]; words: string },
): Promise<z.output<typeof replannedSchema> & { used: Usage[] }> {
  const used: Usage[] = [];
  const given = await replan({
    spent: (usage) => used.push(spent(usage)),
    query: state.query,
    input: words,
    affected: state.workflow.subtasks
      .filter(({ id }) => affected.includes(id))
      .map((subtask) => ({
        subtask: subtask.id,
        name: subtask.name,
        ...castOf(state, subtask),
        status: state.subtasks[subtask.id]?.status ?? 'waiting',
      })),
    signal,
  });
  const parsed = replannedSchema.safeParse(given);
  if (parsed.success) return { ...parsed.data, used };
  throw new ThroughlineError(
    'invalid',
    `What was decided is not valid:\n${z.prettifyError(parsed.error)}`,
  );
}

/** Who has a subtask now, and who else may by the plan. */
function castOf(
  { subtasks }: RunState,
  { id, agent: first, fallback }: Subtask,
): { readonly agent: string; readonly others: readonly string[] } {
  const agent = subtasks[id]?.attempts.at(-1)?.agent ?? first;
  return { agent, others: [first, ...fallback].filter((each) => each !== agent) };
}

/** To be replaced takes another agent: the same one again would be to `modify`. */
function refuseSame(state: RunState, made: z.output<typeof replannedSchema>['decisions']): void {
  for (const { subtask: id, decision, agent } of made) {
    const planned = state.workflow.subtasks.find((each) => each.id === id);
    if (decision !== 'replace' || planned === undefined) continue;
    const { agent: now, others } = castOf(state, planned);
    if (agent === undefined ? others.length > 0 : agent !== now) continue;
    throw new ThroughlineError(
      'invalid',
      `replace ${id}: nobody but ${now} is named for it. Name another agent, give the subtask a fallback, or decide modify, which has the same agent do it anew.`,
    );
  }
}

/** One decision for each affected subtask, and a plan that can still run with what is added. */
function checked(
  { agents }: InterruptGround,
  state: RunState,
  replanned: z.output<typeof replannedSchema> & {
    names: readonly string[];
    affected: readonly string[];
  },
): z.output<typeof replannedSchema> {
  const { affected, names } = replanned;
  const strangers = replanned.decisions.filter(
    ({ subtask, agent }) =>
      !affected.includes(subtask) || (agent !== undefined && !agents.includes(agent)),
  );
  if (strangers.length > 0) {
    const named = strangers.map(({ subtask, agent = '' }) => `${subtask} ${agent}`.trim());
    throw new ThroughlineError(
      'invalid',
      `A decision is about a subtask that is not affected or an agent that is not known: ${named.join(', ')}.`,
    );
  }
  refuseSame(state, replanned.decisions);
  const [name = ''] = names;
  const add = replanned.add.map((subtask) => ({
    ...subtask,
    needs: subtask.needs.map((need) => (need.item === 'input' ? { ...need, item: name } : need)),
  }));
  const workflow = asWorkflow({
    ...state.workflow,
    subtasks: [...state.workflow.subtasks, ...add],
  });
  const offered = state.items.filter(({ producedBy }) => producedBy === undefined);
  checkPlan(workflow, { agents, offered: [...offered.map((each) => each.name), ...names] });
  return {
    decisions: affected.map(
      (subtask) =>
        replanned.decisions.find((each) => each.subtask === subtask) ?? {
          subtask,
          decision: 'keep' as const,
        },
    ),
    add,
  };
}

const following: Readonly<Record<Exclude<Decision, 'keep'>, Stop['follows']>> = {
  modify: 'again',
  replace: 'again',
  suspend: 'suspended',
  cancel: 'cancelled',
};

/** Changes one subtask: an attempt under way is to stop, what is over is done anew, what waits is told. */
function change(
  draft: RunState,
  { id: because, items }: Interruption,
  { subtask: id, decision, agent }: Interruption['decisions'][number],
): void {
  const subtask = draft.subtasks[id];
  const planned = draft.workflow.subtasks.find((each) => each.id === id);
  if (subtask === undefined || planned === undefined || decision === 'keep') return;
  const follows = following[decision];
  const item = items.at(-1);
  if (follows === 'again' && item !== undefined) planned.needs.push({ item, role: 'requirement' });
  if (decision === 'replace') {
    const next = agent ?? castOf(draft, planned).others[0];
    if (next !== undefined) subtask.next = next;
  }
  const open = openAttempt(subtask);
  if (open !== undefined) {
    open.stop ??= { because, follows };
    // An agent that waits for an answer is asked to stop like one that works.
    subtask.status = 'running';
    return;
  }
  if (follows === 'cancelled' && subtask.status === 'completed') return;
  subtask.status = follows === 'again' ? 'waiting' : follows;
  subtask.past = subtask.attempts.length;
  draft.items = draft.items.filter(({ producedBy }) => producedBy !== id);
}

/** Says in the graph what was decided, once; what follows from it names that as its cause. */
export async function tellInterruptions(run: RunContext): Promise<void> {
  for (const interruption of run.journal.state.interruptions) {
    if (interruption.cause !== undefined) continue;
    const said = await run.ports.assert(requirementDrafts(run.journal.state, interruption));
    const cause = said.at(-1) ?? undefined;
    const uses = requirementUses(run.journal.state, {
      ...interruption,
      ...(cause !== undefined && { cause }),
    });
    if (uses.length > 0) await run.ports.assert(uses);
    await run.journal.decide((draft) => {
      const told = draft.interruptions.find(({ id }) => id === interruption.id);
      if (told !== undefined && cause !== undefined) told.cause = cause;
    });
  }
}
