import type { DraftInput } from '../model/assertion.ts';
import type { ContentRef } from '../model/content.ts';
import { correlationExtension } from '../model/envelope.ts';
import type { AgentConnection, KnownAgent } from './connection.ts';
import type { RunContext } from './context.ts';
import { inputEdge } from './plan-attempt.ts';
import {
  resourceOf,
  type Asked,
  type Attempt,
  type Interruption,
  type Output,
  type RunState,
} from './run-state.ts';
import type { Subtask } from '../model/workflow.ts';

/**
 * Whom an attempt's Dialog is opened with. Without a connection it goes by what is known of the agent by
 * then; what turns out otherwise joins the Dialog later.
 */
export async function partnerOf(
  run: RunContext,
  agent: KnownAgent,
  connection?: Pick<AgentConnection, 'extensions' | 'url'>,
): Promise<NonNullable<Attempt['opened']>> {
  const isOurs = connection?.extensions.has(correlationExtension) ?? agent.behind === 'hub';
  const participant = await run.ports.participant({
    kind: 'agent',
    name: agent.name,
    url: connection?.url ?? agent.url,
    // An outsider is known by its address.
    ...(isOurs && { principal: agent.id }),
  });
  return { participant, managed: isOurs ? 'ours' : 'none' };
}

/** The Dialog and the Task of an attempt, with whom that was decided, and where they come from. */
export async function openingDrafts(
  run: RunContext,
  subtask: Subtask,
  attempt: Attempt,
  { participant, managed }: NonNullable<Attempt['opened']>,
): Promise<DraftInput[]> {
  const { state } = run.journal;
  const { edges, dialog, task, after } = attempt;
  const self = { kind: 'agent', principal: run.self.id, name: run.self.name } as const;
  const participants = [await run.ports.participant(self), participant];
  const drafts: DraftInput[] = [
    {
      about: dialog,
      statement: {
        says: 'dialog.opened',
        activity: state.activity,
        participants: [...new Set(participants)],
        objective: subtask.name,
        managed,
      },
    },
    edge(edges['dialog'], 'delegated-from', dialog, state.dialog),
    { about: task, statement: { says: 'task.defined', dialog, objective: subtask.name } },
    edge(edges['task'], 'delegated-from', task, state.task),
    ...(after
      ? [
          edge(edges['dialog-after'], after.relation, dialog, after.dialog),
          edge(edges['task-after'], after.relation, task, after.task),
        ]
      : []),
  ];
  return becauseOf(state, attempt.requirement, drafts);
}

/** The same, each with the assertion that brought the requirement in force as its cause. */
function becauseOf(
  state: RunState,
  requirement: string | undefined,
  drafts: readonly DraftInput[],
): DraftInput[] {
  const cause = causeOf(state, requirement);
  return drafts.map((draft) => (cause === undefined ? draft : { ...draft, cause }));
}

/** Assertion that said that a requirement is in force. */
const causeOf = (state: RunState, requirement: string | undefined): string | undefined =>
  state.interruptions.find(({ items }) => resourceOf(state, items[0]) === requirement)?.cause;

/** What was answered to an agent's question: a Resource that is an input to its Task. */
export function answerDrafts(
  state: RunState,
  attempt: Attempt,
  { ref, edge: id }: NonNullable<Asked['answer']>,
): DraftInput[] {
  return [
    resourceKnown(state, 'answer', ref),
    edge(id, 'input-to', ref.resource, attempt.task, { role: 'answer' }),
  ];
}

/** Ends in the graph what never went out, told there or not: nobody else will say that it is over. */
export async function neverSentDrafts(
  run: RunContext,
  subtask: Subtask,
  attempt: Attempt,
  state: 'timed-out' | 'cancelled',
): Promise<DraftInput[]> {
  const { task, dialog, opened } = attempt;
  if (opened === undefined) return [];
  const reason = state === 'cancelled' ? 'cancelled' : 'failed';
  return [
    ...(await openingDrafts(run, subtask, attempt, opened)),
    ...(state === 'cancelled' ? cancelDrafts(run.journal.state, attempt) : []),
    { about: task, statement: { says: 'task.state', state }, basis: 'observed' },
    {
      about: dialog,
      statement: { says: 'dialog.state', state: 'terminated', reason },
      basis: 'observed',
    },
  ];
}

/** That a Task was asked to stop, and because of what. */
export const cancelDrafts = (state: RunState, { task, stop }: Attempt): DraftInput[] => {
  const cause = state.interruptions.find(({ id }) => id === stop?.because)?.cause;
  const statement = { says: 'task.cancel-requested' } as const;
  return [{ about: task, statement, ...(cause !== undefined && { cause }) }];
};

/** A later requirement: what it is, what it was written down from, and what it modifies. The last one is its cause. */
export function requirementDrafts(state: RunState, interruption: Interruption): DraftInput[] {
  const [first, ...transcripts] = interruption.items.flatMap(
    (name) => state.items.find((item) => item.name === name) ?? [],
  );
  if (first === undefined) return [];
  const target = state.items.find(({ ref }) => ref.resource === interruption.modifies);
  const { edges, modifies } = interruption;
  return [
    resourceKnown(state, first.name, first.ref),
    ...transcripts.flatMap(({ name, ref }) => [
      resourceKnown(state, name, ref),
      edge(edges.derived, 'derived-from', ref.resource, first.ref.resource),
    ]),
    ...(target && target.producedBy === undefined
      ? [resourceKnown(state, target.name, target.ref)]
      : []),
    edge(edges.modifies, 'modifies', first.ref.resource, modifies),
  ];
}

/** That it is an input to each Task under way or over that it concerns. */
export function requirementUses(
  state: RunState,
  { inputs, items, cause }: Interruption,
): DraftInput[] {
  const resource = resourceOf(state, items[0]) ?? '';
  return inputs.map(({ task, edge: id }) => ({
    ...edge(id, 'input-to', resource, task, { role: 'requirement' }),
    ...(cause !== undefined && { cause }),
  }));
}

export function inputDrafts(state: RunState, subtask: Subtask, attempt: Attempt): DraftInput[] {
  const chosen = attempt.items.flatMap(
    (name) => state.items.find((each) => each.name === name) ?? [],
  );
  const drafts = chosen.flatMap((item): DraftInput[] => {
    const need = subtask.needs.find((each) => each.item === item.name);
    const own = need !== undefined && 'role' in need ? need : undefined;
    return [
      // What a subtask put out is known since then.
      ...(item.producedBy === undefined ? [resourceKnown(state, item.name, item.ref)] : []),
      edge(attempt.edges[inputEdge(item.name)], 'input-to', item.ref.resource, attempt.task, {
        role: own?.role ?? item.role,
        note: own?.note ?? item.note,
      }),
    ];
  });
  // Items of equal bytes are one Resource: it is made known once, and used once.
  const seen = new Set<string>();
  const distinct = drafts.filter(({ about, statement }) => {
    const key = statement.says === 'relationship.asserted' ? `use of ${statement.from}` : about;
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
  return becauseOf(state, attempt.requirement, distinct);
}

function resourceKnown(state: RunState, name: string, ref: ContentRef): DraftInput {
  return {
    about: ref.resource,
    statement: {
      says: 'resource.known',
      activity: state.activity,
      name,
      mediaType: ref.mediaType,
      size: ref.size,
      digest: ref.digest,
      locator: ref.uri,
    },
  };
}

/** Outputs that came by value and that the Master offloaded on the agent's behalf. */
export function outputDrafts(
  state: RunState,
  attempt: Attempt,
  outputs: readonly Output[],
): DraftInput[] {
  return outputs.flatMap(({ name, ref, edge: id }) =>
    id === undefined
      ? []
      : [resourceKnown(state, name, ref), edge(id, 'output-of', ref.resource, attempt.task)],
  );
}

function edge(
  id: string | undefined,
  type: string,
  from: string,
  to: string,
  binding: { role?: string | undefined; note?: string | undefined } = {},
): DraftInput {
  const { role, note } = binding;
  return {
    about: id ?? '',
    statement: {
      says: 'relationship.asserted',
      type,
      from,
      to,
      ...(role !== undefined && { role }),
      ...(note !== undefined && { note }),
    },
  };
}
