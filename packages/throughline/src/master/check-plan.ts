import { ThroughlineError } from '../errors.ts';
import { checkPolicy } from '../handover/compression/work.ts';
import { checkGraderSpec } from '../handover/grade.ts';
import type { GraderSpec } from '../model/grader.ts';
import type { Subtask, Workflow } from '../model/workflow.ts';
import { goalsOf } from './task-context.ts';

/** What a plan may count on. */
export interface PlanGround {
  /** Principal ids of the agents that the Master knows. */
  readonly agents: readonly string[];
  /** Names of the context items offered to the run. */
  readonly offered: readonly string[];
  /** Goals that must be served. */
  readonly goals?: readonly string[];
  /** Throws for a grader that the Master does not have. Default: it has all that are asked for. */
  readonly checkGrader?: ((grade: GraderSpec) => void) | undefined;
}

/**
 * Checks a plan before anything of it runs: known agents, unique names, no cycles, every dependency
 * there, every needed item offered or produced by a subtask that is over by then, every grader and
 * every way of compression one that there is.
 *
 * @throws ThroughlineError `invalid` with every problem found, one a line.
 */
export function checkPlan(workflow: Workflow, ground: PlanGround): void {
  const served = goalsOf(workflow);
  const problems = [
    ...(ground.goals ?? [])
      .filter((goal) => !served.has(goal))
      .map((goal) => `goal “${goal}” is served by no subtask`),
    ...repeated(workflow.subtasks.map(({ id }) => id)).map((id) => `subtask ${id} is there twice`),
    ...repeated([...ground.offered, ...producers(workflow).keys()]).map(
      (name) => `item ${name} is offered and produced, or offered twice`,
    ),
    ...repeated(workflow.subtasks.flatMap(({ produces }) => produces.map(({ name }) => name))).map(
      (name) => `item ${name} is produced twice`,
    ),
    ...workflow.subtasks.flatMap((subtask) => problemsOf(subtask, workflow, ground)),
    ...cycle(workflow),
  ];
  if (problems.length === 0) return;
  throw new ThroughlineError(
    'invalid',
    `The workflow “${workflow.name}” can’t run:\n${problems.map((each) => `- ${each}`).join('\n')}`,
    { details: { problems } },
  );
}

/** Name of each produced item → the subtask that produces it. */
function producers(workflow: Workflow): ReadonlyMap<string, Subtask> {
  return new Map(
    workflow.subtasks.flatMap((subtask) =>
      subtask.produces.map(({ name }): [string, Subtask] => [name, subtask]),
    ),
  );
}

function problemsOf(subtask: Subtask, workflow: Workflow, ground: PlanGround): string[] {
  const at = `subtask ${subtask.id}`;
  const ids = new Set(workflow.subtasks.map(({ id }) => id));
  const before = ancestors(subtask, workflow);
  const made = producers(workflow);
  return [
    ...[subtask.agent, ...subtask.fallback]
      .filter((agent) => !ground.agents.includes(agent))
      .map((agent) => `${at}: agent ${agent} is not known; known are ${ground.agents.join(', ')}`),
    ...subtask.dependsOn
      .filter((id) => !ids.has(id))
      .map((id) => `${at} depends on ${id}, which is not in the workflow`),
    ...repeated(subtask.todo.map(({ id }) => id)).map((id) => `${at}: item ${id} is there twice`),
    ...repeated(subtask.criteria.map(({ id }) => id)).map(
      (id) => `${at}: criterion ${id} is there twice`,
    ),
    ...subtask.criteria.flatMap(({ id, grade }) =>
      graderProblems(`${at}: criterion ${id}`, grade, subtask, ground),
    ),
    ...refusals(`${at}: compression`, () => {
      if (subtask.compression !== undefined) checkPolicy(subtask.compression);
    }),
    ...subtask.needs.flatMap(({ item }) => {
      if (ground.offered.includes(item)) return [];
      const producer = made.get(item);
      if (producer === undefined) return [`${at} needs ${item}, which nobody offers or produces`];
      return before.has(producer.id)
        ? []
        : [`${at} needs ${item} of subtask ${producer.id}: add ${producer.id} to its dependsOn`];
    }),
  ];
}

/** Ids of all subtasks that are over before this one begins. */
function ancestors(subtask: Subtask, workflow: Workflow): ReadonlySet<string> {
  const byId = new Map(workflow.subtasks.map((each) => [each.id, each]));
  const found = new Set<string>();
  const open = [...subtask.dependsOn];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(byId.get(id)?.dependsOn ?? []));
  }
  return found;
}

function cycle(workflow: Workflow): string[] {
  const inCycle = workflow.subtasks.filter((each) => ancestors(each, workflow).has(each.id));
  return inCycle.length === 0
    ? []
    : [`subtasks ${inCycle.map(({ id }) => id).join(', ')} wait for each other`];
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}

/** A grader that could never run. */
function graderProblems(
  at: string,
  grade: GraderSpec | undefined,
  { todo }: Subtask,
  { checkGrader }: PlanGround,
): string[] {
  if (grade === undefined) return [];
  const item = 'of' in grade && grade.of && 'item' in grade.of ? grade.of.item : undefined;
  const isMissing = item !== undefined && !todo.some(({ id }) => id === item);
  return [
    ...(isMissing ? [`${at}: item ${item} is not in its todo`] : []),
    ...refusals(at, () => {
      checkGraderSpec(grade);
      checkGrader?.(grade);
    }),
  ];
}

/** What a check throws, as a problem. */
function refusals(at: string, check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error;
    return [`${at}: ${error.message}`];
  }
}
