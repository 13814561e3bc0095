import { makeAgentContext } from '../handover/agent-context.ts';
import { select } from '../handover/select.ts';
import { ThroughlineError } from '../errors.ts';
import type { ContextItem } from '../model/agent-context.ts';
import type { KnownAgent } from './connection.ts';
import type { RunContext } from './context.ts';
import { timeIsOverAt } from './limits.ts';
import {
  resourceOf,
  type Attempt,
  type RunItem,
  type RunState,
  type SubtaskState,
} from './run-state.ts';
import type { Subtask } from '../model/workflow.ts';

/** Who makes the next attempt: the agent first, then each that may replace it. */
function agentFor(subtask: Subtask, { attempts, past, next }: SubtaskState): string {
  const order = [subtask.agent, ...subtask.fallback];
  return next ?? order[Math.min(attempts.length - past, order.length - 1)] ?? subtask.agent;
}

/** An attempt ends by its own time or the run's, whichever is first. */
function deadlineOf({ limits, journal, now }: RunContext, { timeoutSeconds }: Subtask): string {
  const own = now().getTime() + timeoutSeconds * 1_000;
  const isHard = limits.seconds !== undefined && limits.onHit !== 'ask';
  const runs = isHard ? (timeIsOverAt(journal.state, limits) ?? own) : own;
  return new Date(Math.min(own, runs)).toISOString();
}

/**
 * The next attempt at a subtask, with every id that it will use and the context that it will get.
 * Nothing is sent and nothing is asserted: it is a decision, to be written first.
 *
 * @throws ThroughlineError `invalid` when selection fails; then nothing is handed over.
 */
export function planAttempt(run: RunContext, subtask: Subtask): Attempt {
  const { state } = run.journal;
  const subtaskState = run.journal.subtask(subtask.id);
  const agent = run.agents.get(agentFor(subtask, subtaskState));
  if (agent === undefined) {
    throw new ThroughlineError(
      'invalid',
      `Subtask ${subtask.id}: its agent is not known any more.`,
    );
  }
  const needs = subtask.needs.map(({ item }) => item);
  const { chosen, withheld } = select({ id: subtask.id, needs }, state.items, run.selector);
  const last = subtaskState.attempts.at(-1);
  const requirement = requirementOf(state, subtask.id);
  return {
    agent: agent.id,
    dialog: run.ports.newId('dialog'),
    task: run.ports.newId('task'),
    messageId: run.ports.newId('message'),
    edges: edgesFor(run, chosen, last !== undefined),
    ...(last && {
      after: {
        relation: last.agent === agent.id ? ('continuation-of' as const) : ('replaces' as const),
        dialog: last.dialog,
        task: last.task,
      },
    }),
    deadline: deadlineOf(run, subtask),
    ...(isOpen(agent) && { address: addressOf(agent) }),
    ...(requirement !== undefined && { requirement }),
    questions: [],
    usage: [],
    context: makeAgentContext({
      agent: { id: agent.id, name: agent.name },
      subtask: { id: subtask.id, name: subtask.name },
      dependencies: unique(
        chosen.filter((each) => each.producedBy !== undefined).map(({ ref }) => ref.resource),
      ),
      items: distinctItems(chosen.map((each) => asNeeded(subtask, each))),
      todo: subtask.todo,
      criteria: subtask.criteria,
      confidence: subtask.confidence,
      compression: subtask.compression,
    }),
    items: chosen.map(({ name }) => name),
    withheld: [...withheld],
    before: Object.values(state.subtasks).flatMap(({ attempts }) =>
      attempts.filter(({ returned }) => returned !== undefined).map(({ task }) => task),
    ),
    asserted: false,
    outputs: [],
    dropped: [],
  };
}

/** Nothing in its address or beside it may be a secret. */
const isOpen = ({ url, credential }: KnownAgent): boolean =>
  credential === undefined && new URL(url).search === '';

/** For whoever ends the run without knowing its agents. */
const addressOf = ({ url, behind }: KnownAgent): Attempt['address'] => ({
  url,
  ...(behind !== undefined && { behind }),
});

/** The latest requirement that concerns a subtask and was not decided to leave it as it is. */
function requirementOf(state: RunState, id: string): string | undefined {
  const latest = state.interruptions.findLast(
    ({ decisions, added }) =>
      added.includes(id) ||
      decisions.some(({ subtask, decision }) => subtask === id && decision !== 'keep'),
  );
  return resourceOf(state, latest?.items[0]);
}

function edgesFor(
  run: RunContext,
  chosen: readonly RunItem[],
  isRetry: boolean,
): Record<string, string> {
  const purposes = [
    'dialog',
    'task',
    ...(isRetry ? ['dialog-after', 'task-after'] : []),
    ...chosen.map(({ name }) => inputEdge(name)),
  ];
  return Object.fromEntries(purposes.map((each) => [each, run.ports.newId('relationship')]));
}

/** Key of an item's `input-to` edge in an attempt's edges. */
export const inputEdge = (name: string): string => `input ${name}`;

/** An item under the priority that the subtask gives it. */
function asNeeded({ needs }: Subtask, { name, item }: RunItem): ContextItem {
  const need = needs.find((each) => each.item === name);
  const priority = need !== undefined && 'priority' in need ? need.priority : undefined;
  return priority === undefined ? item : { ...item, Priority: priority };
}

/** Items with the same bytes are one Resource and so one ContextItem, with both descriptions. */
function distinctItems(chosen: readonly ContextItem[]): ContextItem[] {
  const items = new Map<string, ContextItem>();
  for (const item of chosen) {
    const there = items.get(item.ContextID);
    items.set(
      item.ContextID,
      there === undefined
        ? item
        : { ...there, Description: `${there.Description}; ${item.Description}` },
    );
  }
  return [...items.values()];
}

const unique = (ids: readonly string[]): string[] => [...new Set(ids)];
