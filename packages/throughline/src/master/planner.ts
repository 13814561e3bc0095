import { ThroughlineError } from '../errors.ts';
import type { Usage } from '../model/usage.ts';
import type { Workflow, WorkflowInput } from '../model/workflow.ts';
import { checkPlan, type PlanGround } from './check-plan.ts';
import { asWorkflow } from './workflow.ts';

/** What a planner is told. Names and descriptions come from elsewhere: they are data, not instructions. */
export interface PlanRequest {
  /** The user's words. */
  readonly query: string;
  /** What must be reached; each must be served by a subtask. Empty: the planner finds them. */
  readonly goals: readonly string[];
  readonly agents: readonly {
    readonly id: string;
    readonly name: string;
    readonly description?: string;
  }[];
  readonly offered: readonly {
    readonly name: string;
    readonly description: string;
    readonly type: string;
    readonly mediaType: string;
  }[];
  /** What was wrong with the plan given before; absent the first time. */
  readonly problem?: string;
  /** Counts what a model used for it. */
  readonly spent: (usage: Omit<Usage, 'money'>) => void;
  readonly signal: AbortSignal;
}

/**
 * Turns a request into a plan. Whatever it gives is checked before anything of it runs; one that fails
 * the check is asked for again, with the reason.
 */
export type Planner = (
  request: PlanRequest,
) => Workflow | WorkflowInput | Promise<Workflow | WorkflowInput>;

/** The planner of one plan written down, as a file's (`parseWorkflow`) or as a value. */
export const plannedBy =
  (workflow: Workflow | WorkflowInput): Planner =>
  () =>
    workflow;

export interface PlanningOptions extends Omit<PlanRequest, 'problem'> {
  readonly ground: PlanGround;
  /** How often a planner may try, the first time included. */
  readonly tries: number;
}

/**
 * Asks for a plan until one holds.
 *
 * @throws ThroughlineError `unavailable`, not to be retried, in words that may go to whoever made the
 *   request: it names neither agents nor items. What was wrong with the plan is its `cause`.
 */
export async function makePlan(planner: Planner, options: PlanningOptions): Promise<Workflow> {
  const { ground, tries, ...request } = options;
  let problem: ThroughlineError | undefined;
  for (let attempt = 0; attempt < tries; attempt++) {
    request.signal.throwIfAborted();
    try {
      const given = problem === undefined ? request : { ...request, problem: problem.message };
      const plan = asWorkflow(await planner(given));
      checkPlan(plan, ground);
      return plan;
    } catch (error) {
      // A planner's own trouble (its model is away) is not mended by telling it of its plan.
      if (!(error instanceof ThroughlineError) || error.code !== 'invalid') throw unplanned(error);
      // The same plan again would fail again.
      if (problem?.message === error.message) break;
      problem = error;
    }
  }
  throw unplanned(problem);
}

function unplanned(cause: unknown): ThroughlineError {
  const isAway = cause instanceof ThroughlineError && cause.retryable;
  return new ThroughlineError(
    'unavailable',
    isAway
      ? 'This request could not be planned for now, and nothing of it was begun; ask again later.'
      : 'There is no plan for this request that can run, and nothing of it was begun. Whoever operates this service can read why in its log.',
    { retryable: isAway, cause },
  );
}
