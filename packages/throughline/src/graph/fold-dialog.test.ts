import { beforeEach, describe, expect, it } from 'vitest';
import { dialogStates, dialogSteps, type DialogState, type Statement } from '../model/index.ts';
import { named, outcome, Story } from './conformance.ts';

let story: Story;
let user: string;
let agent: string;
let tool: string;
let activity: string;
let dialog: string;

beforeEach(() => {
  story = new Story();
  user = story.participant('user', 'user');
  agent = story.participant('agent');
  tool = story.participant('tool', 'tool');
  activity = story.activity('act', user);
  dialog = story.dialog('D1', activity, [user, agent]);
});

const move = (
  state: DialogState,
  more: { reason?: 'completed' | 'failed'; inferred?: boolean } = {},
) => outcome(story.say(dialog, { says: 'dialog.state', state, ...more }));
const now = () => story.graph.dialog(dialog);
const bind = (localId: string, more: { rebind?: boolean } = {}, endpoint?: string) => {
  const local = { protocol: 'a2a' as const, localId, ...(endpoint !== undefined && { endpoint }) };
  return story.say(dialog, { says: 'dialog.bound', local, ...more });
};

/** Steps that lead to a state from `initiating`. */
const path: Record<DialogState, DialogState[]> = {
  initiating: [],
  active: ['active'],
  interrupted: ['active', 'interrupted'],
  suspended: ['active', 'suspended'],
  terminated: ['terminated'],
};

describe('an Activity', () => {
  it('takes the first Dialog in it as its initial one and the other party as its FNE', () => {
    story.dialog('D2', activity, [agent, tool]);
    expect(story.graph.activity(activity)).toEqual({
      id: activity,
      initiator: user,
      objective: 'act',
      initialDialog: dialog,
      firstNext: agent,
      closed: false,
    });
  });

  it('has neither AIE nor FNE where upstream is withheld', () => {
    const local = story.activity('local');
    const first = story.dialog('D9', local, [user, agent]);
    expect(story.graph.activity(local)).toMatchObject({ initialDialog: first });
    expect(story.graph.activity(local)).not.toHaveProperty('firstNext');
  });

  it('ends nothing in it when it is closed', () => {
    move('active');
    story.say(activity, { says: 'activity.closed' });
    expect(story.graph.activity(activity)?.closed).toBe(true);
    expect(now()?.state).toBe('active');
  });

  it.each([
    ['an initiator that is a tool', () => named('participant', 'tool'), 'tool-invokes'],
    ['an unknown initiator', () => named('participant', 'nobody'), 'unknown-object'],
  ])('refuses %s', (_what, initiator, rule) => {
    const about = named('activity', 'other');
    const said = story.say(about, { says: 'activity.opened', initiator: initiator() });
    expect(outcome(said)).toBe(rule);
    expect(story.graph.activity(about)).toBeUndefined();
  });
});

describe('a Dialog', () => {
  it.each(dialogStates.flatMap((from) => dialogStates.map((to) => [from, to] as const)))(
    'going from %s to %s follows the table',
    (from, to) => {
      for (const step of path[from]) expect(move(step)).toBe('applied');
      const before = now();
      const allowed = from === to || dialogSteps[from].includes(to);
      expect(move(to) === 'applied').toBe(allowed);
      if (!allowed) expect(now()).toBe(before);
      else expect(now()?.state).toBe(to);
    },
  );

  it('that was ended stays ended, for the reason given', () => {
    move('terminated', { reason: 'completed' });
    expect(move('active')).toBe('final-state');
    expect(move('terminated', { reason: 'failed' })).toBe('final-state');
    expect(move('terminated', { reason: 'completed', inferred: true })).toBe('applied');
    expect(now()).toMatchObject({ state: 'terminated', reason: 'completed' });
    expect(now()).not.toHaveProperty('endInferred');
  });

  it('whose end was only inferred goes on by later evidence', () => {
    move('active');
    move('terminated', { reason: 'completed', inferred: true });
    expect(now()).toMatchObject({ state: 'terminated', endInferred: true });
    expect(move('initiating')).toBe('illegal-step');
    expect(move('active')).toBe('applied');
    expect(now()).toMatchObject({ state: 'active' });
    expect(now()).not.toHaveProperty('endInferred');
    expect(now()).not.toHaveProperty('reason');
  });

  it('whose end was inferred is ended for good once the end is signalled', () => {
    move('terminated', { inferred: true });
    expect(move('terminated', { reason: 'failed' })).toBe('applied');
    expect(move('active')).toBe('final-state');
    expect(now()?.reason).toBe('failed');
  });

  it('keeps who opened it when that participant leaves', () => {
    expect(outcome(story.say(dialog, { says: 'dialog.joined', participant: tool }))).toBe(
      'applied',
    );
    story.say(dialog, { says: 'dialog.left', participant: user });
    expect(now()).toMatchObject({ invoker: user, participants: [agent, tool] });
    story.say(dialog, { says: 'dialog.left', participant: agent });
    expect(outcome(story.say(dialog, { says: 'dialog.left', participant: tool }))).toBe(
      'illegal-step',
    );
    expect(now()?.participants).toEqual([tool]);
  });

  it('is not joined by strangers, nor twice', () => {
    const stranger = named('participant', 'stranger');
    expect(outcome(story.say(dialog, { says: 'dialog.joined', participant: stranger }))).toBe(
      'unknown-object',
    );
    story.say(dialog, { says: 'dialog.joined', participant: agent });
    expect(now()?.participants).toEqual([user, agent]);
  });

  it('is full at 64 participants', () => {
    for (let i = 0; i < 62; i++) {
      const participant = story.participant(`p${i}`);
      story.say(dialog, { says: 'dialog.joined', participant });
    }
    const refused = story.say(dialog, { says: 'dialog.joined', participant: tool });
    expect(outcome(refused)).toBe('illegal-step');
    expect(now()?.participants).toHaveLength(64);
  });

  it('puts a new protocol-local id first and keeps sixteen', () => {
    for (let i = 0; i < 20; i++) bind(`ctx-${i}`, { rebind: true });
    expect(now()?.local).toHaveLength(16);
    expect(now()?.local[0]?.localId).toBe('ctx-19');
    const before = now();
    bind('ctx-19');
    expect(now()).toBe(before);
    bind('ctx-18');
    expect(
      now()
        ?.local.map(({ localId }) => localId)
        .slice(0, 3),
    ).toEqual(['ctx-18', 'ctx-19', 'ctx-17']);
    expect(now()?.local).toHaveLength(16);
  });

  it('goes on under a new protocol-local id only when that is said, and stays what it is', () => {
    expect(outcome(bind('ctx-1'))).toBe('applied');
    expect(outcome(bind('ctx-2'))).toBe('needs-rebind');
    expect(now()?.local.map(({ localId }) => localId)).toEqual(['ctx-1']);
    story.say(dialog, { says: 'dialog.state', state: 'active' });
    expect(outcome(bind('ctx-2', { rebind: true }))).toBe('applied');
    expect(now()).toMatchObject({ id: dialog, state: 'active' });
    expect(now()?.local.map(({ localId }) => localId)).toEqual(['ctx-2', 'ctx-1']);
  });

  it('is reached elsewhere under the same protocol-local id without more ado', () => {
    bind('ctx-1', {}, 'https://one.example');
    expect(outcome(bind('ctx-1', {}, 'https://two.example'))).toBe('applied');
  });

  it.each([
    ['an unknown Activity', () => ({ activity: named('activity', 'no') }), 'unknown-object'],
    [
      'an unknown participant',
      () => ({ participants: [user, named('participant', 'no')] }),
      'unknown-object',
    ],
    ['a tool that invokes', () => ({ participants: [tool, agent] }), 'tool-invokes'],
  ])('does not open with %s', (_what, change, rule) => {
    const opening = {
      activity,
      participants: [user, agent],
      managed: 'ours' as const,
      ...change(),
    };
    const about = named('dialog', 'D2');
    expect(outcome(story.say(about, { says: 'dialog.opened', ...opening }))).toBe(rule);
    expect(story.graph.dialog(about)).toBeUndefined();
  });

  it('does not open twice, nor under the id of something else', () => {
    const opening: Statement = {
      says: 'dialog.opened',
      activity,
      participants: [user, agent],
      managed: 'ours',
    };
    expect(outcome(story.say(dialog, opening))).toBe('duplicate');
    expect(outcome(story.say(named('task', 'T'), opening))).toBe('unknown-object');
  });

  it('with a tool in it is opened by another than the tool', () => {
    const id = story.dialog('D3', activity, [agent, tool]);
    expect(story.graph.dialog(id)?.invoker).toBe(agent);
  });

  it.each([
    { says: 'dialog.state', state: 'active' },
    { says: 'dialog.bound', local: { protocol: 'a2a', localId: 'c' } },
    { says: 'dialog.left', participant: named('participant', 'user') },
    { says: 'dialog.joined', participant: named('participant', 'user') },
  ] as const)('that nobody knows: $says is kept as a conflict', (statement) => {
    const said = story.say(named('dialog', 'no'), statement);
    expect(said).toMatchObject({ applied: false, conflict: { rule: 'unknown-object' } });
    expect(story.graph.conflicts).toHaveLength(1);
  });
});

describe('what is known of a Participant or a Resource', () => {
  it('grows, and what it is does not change', () => {
    story.say(agent, { says: 'participant.known', kind: 'agent', url: 'https://a.example' });
    expect(story.graph.participant(agent)).toEqual({
      id: agent,
      kind: 'agent',
      name: 'agent',
      url: 'https://a.example',
    });
    expect(outcome(story.say(agent, { says: 'participant.known', kind: 'tool' }))).toBe(
      'duplicate',
    );
  });

  it('is what a Participant itself says, whatever others said before', () => {
    const known = { says: 'participant.known', kind: 'user', name: 'own' } as const;
    expect(outcome(story.say(tool, known, { source: agent }))).toBe('duplicate');
    expect(outcome(story.say(tool, known, { source: tool }))).toBe('applied');
    expect(story.graph.participant(tool)).toMatchObject({ kind: 'user', name: 'own' });
  });

  it('is of one Activity and has one content', () => {
    const digest = `sha-256:${'0'.repeat(64)}`;
    const id = story.resource('R', activity);
    const other = story.activity('other', user);
    const know = (more: object, where = activity) =>
      outcome(story.say(id, { says: 'resource.known', activity: where, ...more }));
    expect(know({ digest, size: 1 })).toBe('applied');
    expect(know({ mediaType: 'text/csv' })).toBe('applied');
    expect(know({ digest: `sha-256:${'1'.repeat(64)}` })).toBe('duplicate');
    expect(know({ size: 2 })).toBe('duplicate');
    expect(know({}, other)).toBe('other-activity');
    expect(know({}, named('activity', 'no'))).toBe('unknown-object');
    expect(story.graph.resource(id)).toEqual({
      id,
      activity,
      name: 'R',
      mediaType: 'text/csv',
      digest,
      size: 1,
    });
  });

  it('changes nothing when it is said again', () => {
    story.graph.settle();
    story.say(agent, { says: 'participant.known', kind: 'agent' });
    expect(story.graph.changes.objects.size).toBe(0);
  });
});
