import type { DraftInput } from '../model/assertion.ts';
import type { ContentRef } from '../model/content.ts';
import { correlationExtension } from '../model/envelope.ts';
import type { AgentConnection, KnownAgent } from './connection.ts';
import type { RunContext } from './context.ts';
import { inputEdge } from './plan-attempt.ts';
import type { Attempt, Output, RunState } from './run-state.ts';
import type { Subtask } from './workflow.ts';

/** Everything that must be in the graph before an attempt's message goes out. */
export async function attemptDrafts(
  run: RunContext,
  subtask: Subtask,
  attempt: Attempt,
  agent: KnownAgent,
  connection: Pick<AgentConnection, 'extensions' | 'url'>,
): Promise<DraftInput[]> {
  const { state } = run.journal;
  const isOurs = connection.extensions.has(correlationExtension);
  const participants = [
    await run.ports.participant({ kind: 'agent', principal: run.self.id, name: run.self.name }),
    await run.ports.participant({
      kind: 'agent',
      name: agent.name,
      url: connection.url,
      // An outsider is known by its address.
      ...(isOurs && { principal: agent.id }),
    }),
  ];
  const { edges, dialog, task, after } = attempt;
  return [
    {
      about: dialog,
      statement: {
        says: 'dialog.opened',
        activity: state.activity,
        participants: [...new Set(participants)],
        objective: subtask.name,
        managed: isOurs ? 'ours' : 'none',
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
    ...inputDrafts(state, subtask, attempt),
  ];
}

function inputDrafts(state: RunState, subtask: Subtask, attempt: Attempt): DraftInput[] {
  const chosen = attempt.items.flatMap(
    (name) => state.items.find((each) => each.name === name) ?? [],
  );
  const drafts = chosen.flatMap((item) => {
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
  return drafts.filter(({ about, statement }) => {
    const key = statement.says === 'relationship.asserted' ? `use of ${statement.from}` : about;
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
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
