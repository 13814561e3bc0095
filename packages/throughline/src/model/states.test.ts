import { describe, expect, it } from 'vitest';
import { dialogStates, dialogSteps } from './dialog.ts';
import { finalTaskStates, taskStates, taskSteps } from './task.ts';
import { goalStatuses, overallStatus, type GoalStatus } from './task-context.ts';

/** States that can be reached from one, itself excepted. */
function reachable<S extends string>(steps: Readonly<Record<S, readonly S[]>>, from: S): Set<S> {
  const found = new Set(steps[from]);
  for (const state of found) for (const next of steps[state]) found.add(next);
  return found;
}

const of = (...statuses: GoalStatus[]) =>
  overallStatus(statuses.map((Status, i) => ({ Goal: `goal ${i}`, Status })));

describe('the steps of a Dialog', () => {
  it('lead everywhere from initiating, and nowhere from terminated', () => {
    const others = dialogStates.filter((state) => state !== 'initiating');
    expect([...reachable(dialogSteps, 'initiating')].toSorted()).toEqual(others.toSorted());
    expect(dialogSteps.terminated).toEqual([]);
  });

  it('go between interrupted and suspended only by way of active', () => {
    expect(dialogSteps.interrupted).toEqual(['active', 'terminated']);
    expect(dialogSteps.suspended).toEqual(['active', 'terminated']);
  });
});

describe('the steps of a Task', () => {
  it('lead everywhere but back to defined', () => {
    const others = taskStates.filter((state) => state !== 'defined');
    expect([...reachable(taskSteps, 'defined')].toSorted()).toEqual(others.toSorted());
  });

  it('stop exactly at the final states', () => {
    expect(taskStates.filter((state) => taskSteps[state].length === 0)).toEqual(finalTaskStates);
  });
});

describe('the overall status of a TaskContext', () => {
  it.each<[GoalStatus, GoalStatus[]]>([
    ['', []],
    ['', ['', '']],
    ['in-progress', ['', 'in-progress']],
    ['in-progress', ['completed', '']],
    ['completed', ['completed', 'completed']],
    ['cancelled', ['completed', 'cancelled', '']],
    ['failed', ['cancelled', 'failed', 'completed']],
  ])('is “%s” for %j', (expected, statuses) => {
    expect(of(...statuses)).toBe(expected);
  });

  it('of one goal is that of the goal', () => {
    for (const status of goalStatuses) expect(of(status)).toBe(status);
  });
});
