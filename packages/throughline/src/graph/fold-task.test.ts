import { beforeEach, describe, expect, it } from 'vitest';
import {
  finalTaskStates,
  taskStates,
  taskSteps,
  type Basis,
  type TaskState,
} from '../model/index.ts';
import { named, outcome, Story } from './conformance.ts';

let story: Story;
let client: string;
let executor: string;
let watcher: string;
let dialog: string;
let task: string;

beforeEach(() => {
  story = new Story();
  client = story.participant('client');
  executor = story.participant('executor');
  watcher = story.participant('watcher');
  const activity = story.activity('act', client);
  dialog = story.dialog('D1', activity, [client, executor, watcher]);
  task = story.task('T1', dialog);
});

const say = (state: TaskState, source = executor, basis: Basis = 'reported') =>
  outcome(story.say(task, { says: 'task.state', state }, { source, basis }));
const now = () => story.graph.task(task);

describe('a Task', () => {
  it.each(taskStates.flatMap((from) => taskStates.map((to) => [from, to] as const)))(
    'that its executor moves from %s to %s follows the table',
    (from, to) => {
      if (from !== 'defined') expect(say(from)).toBe('applied');
      const before = now();
      const allowed = from === to || taskSteps[from].includes(to);
      expect(say(to) === 'applied').toBe(allowed);
      if (allowed) expect(now()?.state).toBe(to);
      else expect(now()).toBe(before);
    },
  );

  it.each(finalTaskStates)('once reported %s refuses every other state by name', (state) => {
    say(state);
    expect(say('in-progress')).toBe('final-state');
    expect(story.graph.conflicts).toEqual([
      expect.objectContaining({ about: task, rule: 'final-state' }),
    ]);
  });

  it('never goes back to defined', () => {
    say('in-progress');
    expect(say('defined')).toBe('illegal-step');
    expect(say('defined', client, 'observed')).toBe('illegal-step');
  });

  it('keeps what it awaits only while it awaits, and an outcome only when completed', () => {
    const told = { source: executor };
    story.say(
      task,
      { says: 'task.state', state: 'awaiting', awaiting: 'input', outcome: 'ok' },
      told,
    );
    expect(now()).toMatchObject({ state: 'awaiting', awaiting: 'input' });
    expect(now()).not.toHaveProperty('outcome');
    story.say(
      task,
      { says: 'task.state', state: 'completed', awaiting: 'input', outcome: 'error' },
      told,
    );
    expect(now()).toMatchObject({ state: 'completed', outcome: 'error' });
    expect(now()).not.toHaveProperty('awaiting');
    say('completed');
    expect(now()?.outcome).toBe('error');
  });

  it('is defined once, in a Dialog that is known, and is of that Dialog’s Activity', () => {
    expect(now()?.activity).toBe(story.graph.dialog(dialog)?.activity);
    expect(outcome(story.say(task, { says: 'task.defined', dialog }))).toBe('duplicate');
    const nowhere = { says: 'task.defined', dialog: named('dialog', 'no') } as const;
    expect(outcome(story.say(named('task', 'T9'), nowhere))).toBe('unknown-object');
    expect(outcome(story.say(named('dialog', 'T9'), { says: 'task.defined', dialog }))).toBe(
      'unknown-object',
    );
  });

  it('owns its protocol-local id within its Dialog', () => {
    const bind = (id: string, localId: string) =>
      outcome(story.say(id, { says: 'task.bound', localId }));
    const sibling = story.task('T2', dialog);
    expect(bind(task, 'local')).toBe('applied');
    expect(bind(task, 'local')).toBe('applied');
    expect(bind(sibling, 'local')).toBe('duplicate');
    const elsewhere = story.dialog('D2', now()?.activity ?? '', [client, executor]);
    expect(bind(story.task('T3', elsewhere), 'local')).toBe('applied');
    expect(bind(task, 'renewed')).toBe('needs-rebind');
    expect(now()?.localId).toBe('local');
    const rebind = { says: 'task.bound', localId: 'renewed', rebind: true } as const;
    expect(outcome(story.say(task, rebind))).toBe('applied');
    expect(now()?.localId).toBe('renewed');
  });

  it('that was asked to be cancelled is not cancelled by that', () => {
    say('in-progress');
    expect(outcome(story.say(task, { says: 'task.cancel-requested' }))).toBe('applied');
    expect(now()).toMatchObject({ state: 'in-progress', cancelRequested: true });
    say('completed');
    expect(now()).toMatchObject({ state: 'completed', cancelRequested: true });
  });

  it('whose outcome nobody knows says so until somebody does', () => {
    say('in-progress');
    story.say(task, { says: 'task.unresolved' });
    expect(now()).toMatchObject({ state: 'in-progress', unresolved: true });
    story.say(task, { says: 'task.unresolved', resolved: true });
    expect(now()).not.toHaveProperty('unresolved');
  });

  it.each([
    { says: 'task.state', state: 'completed' },
    { says: 'task.bound', localId: 'x' },
    { says: 'task.cancel-requested' },
    { says: 'task.unresolved' },
  ] as const)('that nobody knows: $says is kept as a conflict', (statement) => {
    expect(outcome(story.say(named('task', 'no'), statement))).toBe('unknown-object');
  });
});

describe('several words about one Task', () => {
  it('move it by what was seen until the executor speaks', () => {
    say('in-progress', client, 'observed');
    expect(now()).toMatchObject({
      state: 'in-progress',
      stateBasis: 'observed',
      stateSource: client,
    });
    say('completed');
    expect(now()).toMatchObject({
      state: 'completed',
      stateBasis: 'reported',
      stateSource: executor,
    });
    expect(now()).not.toHaveProperty('contested');
  });

  it('rest on the executor’s as soon as it says the same', () => {
    say('completed', client, 'observed');
    say('completed');
    expect(now()).toMatchObject({ stateBasis: 'reported', stateSource: executor });
  });

  it('are kept with source, basis and number where they differ from the executor’s', () => {
    say('in-progress');
    expect(say('failed', watcher, 'observed')).toBe('applied');
    expect(now()).toMatchObject({
      state: 'in-progress',
      contested: [
        { source: watcher, basis: 'observed', state: 'failed', seq: story.assertions.length },
      ],
    });
  });

  it('are the latest of each source, and gone when it agrees', () => {
    say('in-progress');
    say('failed', watcher, 'observed');
    say('cancelled', watcher, 'observed');
    expect(now()?.contested?.map(({ state }) => state)).toEqual(['cancelled']);
    say('in-progress', watcher, 'observed');
    expect(now()).not.toHaveProperty('contested');
    say('failed', watcher, 'observed');
    say('failed');
    expect(now()).not.toHaveProperty('contested');
  });

  it('are at most sixteen', () => {
    say('in-progress');
    for (let i = 0; i < 20; i++) {
      const participant = story.participant(`w${i}`);
      story.say(dialog, { says: 'dialog.joined', participant });
      say('failed', participant, 'observed');
    }
    expect(now()?.contested).toHaveLength(16);
  });

  it('make no end by being seen: the executor overrules it and the word seen stays', () => {
    say('failed', watcher, 'observed');
    const { seq } = story.assertions.at(-1) ?? {};
    expect(say('completed')).toBe('applied');
    expect(now()).toMatchObject({
      state: 'completed',
      contested: [{ source: watcher, basis: 'observed', state: 'failed', seq }],
    });
  });

  it.each(['observed', 'supervised'] as const)(
    'of a time-out %s give way to the executor, whatever it says',
    (basis) => {
      say('in-progress');
      expect(say('timed-out', watcher, basis)).toBe('applied');
      expect(now()).toMatchObject({ state: 'timed-out', stateBasis: basis });
      expect(say('in-progress')).toBe('applied');
      expect(now()).toMatchObject({ state: 'in-progress', stateBasis: 'reported' });
      expect(now()).not.toHaveProperty('contested');
    },
  );

  it('of a time-out do not reopen what the executor ended', () => {
    say('completed');
    say('timed-out', watcher, 'observed');
    expect(now()).toMatchObject({ state: 'completed', contested: [{ state: 'timed-out' }] });
  });

  it('of a time-out by the executor itself are final', () => {
    say('timed-out');
    expect(say('completed')).toBe('final-state');
  });

  it('of the one who asked for the work count as seen, even when they claim to report', () => {
    say('completed', client, 'reported');
    expect(now()).toMatchObject({ state: 'completed', stateBasis: 'observed' });
    say('failed');
    expect(now()).toMatchObject({ state: 'failed', stateBasis: 'reported' });
  });

  it('of one who is not in its Dialog are refused, save a supervisor’s', () => {
    const stranger = story.participant('stranger');
    for (const basis of ['reported', 'observed'] as const) {
      expect(say('failed', stranger, basis)).toBe('unverified');
    }
    expect(now()).toMatchObject({ state: 'defined' });
    expect(now()).not.toHaveProperty('contested');
    expect(say('failed', stranger, 'supervised')).toBe('applied');
    expect(say('in-progress', 'hub')).toBe('applied');
  });

  it('of a second executor do not move it', () => {
    say('in-progress');
    expect(say('failed', watcher)).toBe('applied');
    expect(now()).toMatchObject({
      state: 'in-progress',
      contested: [{ basis: 'reported', state: 'failed' }],
    });
  });
});

describe('no state couples to another', () => {
  it('a Dialog that ends leaves its Tasks as they are', () => {
    say('in-progress');
    const before = now();
    story.say(dialog, { says: 'dialog.state', state: 'terminated', reason: 'failed' });
    expect(now()).toBe(before);
  });

  it('a Task that moves leaves its Dialog and its siblings as they are', () => {
    const sibling = story.task('T2', dialog);
    const before = [story.graph.dialog(dialog), story.graph.task(sibling)];
    say('in-progress');
    say('failed');
    expect([story.graph.dialog(dialog), story.graph.task(sibling)]).toEqual(before);
    expect(story.graph.dialog(dialog)?.state).toBe('initiating');
  });

  it('replacing a Dialog or a Task says nothing about the state of what is replaced', () => {
    say('in-progress');
    const again = story.dialog('D2', now()?.activity ?? '', [client, executor]);
    const retry = story.task('T2', again);
    const before = [now(), story.graph.dialog(dialog)];
    expect(outcome(story.relate('replaces', again, dialog))).toBe('applied');
    expect(outcome(story.relate('replaces', retry, task))).toBe('applied');
    expect([now(), story.graph.dialog(dialog)]).toEqual(before);
  });
});
