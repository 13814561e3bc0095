import { beforeEach, describe, expect, it } from 'vitest';
import {
  observationSchema,
  type DraftInput,
  type Observation,
  type ResourceNote,
} from '../model/index.ts';
import { counter, named, outcome, Story } from './conformance.ts';
import { interpret, type MakeId, type Resolved } from './interpret.ts';

const at = '2031-01-01T09:00:00Z';
const user = named('participant', 'user');
const desk = named('participant', 'desk');
const worker = named('participant', 'worker');
const digest = (n: number) => `sha-256:${String(n).repeat(64)}`;

const where = {
  protocol: 'a2a',
  side: 'server',
  endpoint: 'https://desk.example/a2a',
  contextId: 'ctx-1',
  client: { kind: 'user', name: 'user' },
  server: { kind: 'agent', name: 'desk' },
  at,
} as const;

type More<K extends Observation['kind']> = Partial<Extract<Observation, { kind: K }>>;

const message = (more: More<'message'> = {}): Observation => ({
  ...where,
  kind: 'message',
  messageId: 'm-1',
  referenceTaskIds: [],
  resources: [],
  ...more,
});
const task = (
  state: Extract<Observation, { kind: 'task' }>['state'],
  more: More<'task'> = {},
): Observation => ({
  ...where,
  kind: 'task',
  taskId: 'a2a-1',
  state,
  ...more,
});
const artifact = (resource: ResourceNote, more: More<'artifact'> = {}): Observation => ({
  ...where,
  kind: 'artifact',
  taskId: 'a2a-1',
  artifactId: 'art-1',
  resource,
  ...more,
});
const cancel = (more: More<'cancel-request'> = {}): Observation => ({
  ...where,
  kind: 'cancel-request',
  taskId: 'a2a-1',
  ...more,
});

let story: Story;
let makeId: MakeId;
/** Dialog that a context id means at an endpoint. */
let contexts: Map<string, string>;

beforeEach(() => {
  story = new Story();
  makeId = counter();
  contexts = new Map();
});

/** Interprets and folds as the hub does; nothing that an observation says may break a rule. */
function see(observation: Observation, more: Partial<Resolved> = {}): DraftInput[] {
  const seen = observationSchema.parse(observation);
  const place = `${seen.endpoint} ${seen.contextId}`;
  const resolved = { client: user, server: desk, dialog: contexts.get(place), ...more };
  const drafts = interpret(seen, { graph: story.graph, ...resolved }, makeId);
  const bound = drafts.findLast(({ statement }) => statement.says === 'dialog.bound');
  if (bound !== undefined) contexts.set(place, bound.about);
  const source = seen.side === 'server' ? desk : user;
  expect(story.sayAll(drafts, source).map(outcome)).toEqual(drafts.map(() => 'applied'));
  return drafts;
}

const says = (drafts: readonly DraftInput[]) => drafts.map(({ statement }) => statement.says);
const d1 = named('dialog', 'new1');
const t1 = named('task', 'new1');
const a1 = named('activity', 'new1');
const r1 = named('resource', 'new1');
const inputs = () => story.graph.in(t1, ['input-to']).map(({ from }) => from);
const producers = () =>
  [...story.graph.relationships()]
    .filter(({ type }) => type === 'output-of')
    .map(({ from, to }) => [from, to]);
const now = () => story.graph.task(t1);

describe('a message that begins a case', () => {
  it('opens an Activity with its initial Dialog and defines a Task', () => {
    const drafts = see(message({ taskId: 'a2a-1', objective: 'Find my cash back' }));
    expect(says(drafts)).toEqual([
      'participant.known',
      'participant.known',
      'activity.opened',
      'dialog.opened',
      'dialog.bound',
      'task.defined',
      'task.bound',
    ]);
    expect(drafts.every(({ basis, assertedAt }) => basis === 'reported' && assertedAt === at)).toBe(
      true,
    );
    expect(story.graph.activity(a1)).toEqual({
      id: a1,
      initiator: user,
      firstNext: desk,
      initialDialog: d1,
      objective: 'Find my cash back',
      closed: false,
    });
    expect(story.graph.dialog(d1)).toMatchObject({
      state: 'initiating',
      managed: 'ours',
      invoker: user,
      local: [{ protocol: 'a2a', localId: 'ctx-1', endpoint: where.endpoint }],
    });
    expect(story.graph.task(t1)).toMatchObject({ state: 'defined', localId: 'a2a-1', dialog: d1 });
  });

  it('gives Participants that nobody named yet an id', () => {
    const drafts = see(message(), { client: undefined, server: undefined });
    expect(drafts.slice(0, 2).map(({ about }) => about)).toEqual([
      named('participant', 'new1'),
      named('participant', 'new2'),
    ]);
  });

  it('says nothing when it is seen again', () => {
    const carried = { digest: digest(1), name: 'receipt.pdf', mediaType: 'application/pdf' };
    const seen = message({ taskId: 'a2a-1', resources: [carried] });
    see(seen);
    expect(see(seen)).toEqual([]);
    see(task('in-progress'));
    expect(see(task('in-progress'))).toEqual([]);
    see(artifact({ digest: digest(2) }));
    expect(see(artifact({ digest: digest(2) }))).toEqual([]);
    see(cancel());
    expect(see(cancel())).toEqual([]);
  });

  it('leaves the Dialog initiating until the server answers', () => {
    see(message({ taskId: 'a2a-1' }));
    expect(story.graph.dialog(d1)?.state).toBe('initiating');
    expect(says(see(task('in-progress')))).toEqual(['dialog.state', 'task.state']);
    expect(story.graph.dialog(d1)?.state).toBe('active');
  });

  it('from the client side is a Dialog that nobody manages, and is only seen', () => {
    const drafts = see(message({ side: 'client', taskId: 'a2a-1' }));
    expect(drafts.every(({ basis }) => basis === 'observed')).toBe(true);
    expect(story.graph.dialog(d1)?.managed).toBe('none');
  });
});

describe('a follow-up', () => {
  beforeEach(() => {
    see(message({ taskId: 'a2a-1' }));
    see(task('completed'));
  });

  it('on the same context is a further Task in the same Dialog', () => {
    expect(says(see(message({ taskId: 'a2a-2', messageId: 'm-2' })))).toEqual([
      'task.defined',
      'task.bound',
    ]);
    expect(story.graph.tasksOf(d1).map(({ localId }) => localId)).toEqual(['a2a-1', 'a2a-2']);
    expect(story.graph.dialogs()).toHaveLength(1);
  });

  it('at another agent, by a grantee, makes both join', () => {
    const [grantee, second] = [named('participant', 'grantee'), named('participant', 'second')];
    const drafts = see(message({ taskId: 'a2a-2', endpoint: 'https://second.example' }), {
      client: grantee,
      server: second,
      dialog: d1,
    });
    expect(says(drafts).filter((each) => each === 'dialog.joined')).toHaveLength(2);
    expect(says(drafts)).not.toContain('dialog.bound');
    expect(story.graph.dialog(d1)?.participants).toEqual([user, desk, grantee, second]);
  });

  it('relates its Task to the Tasks it refers to', () => {
    see(message({ taskId: 'a2a-2', referenceTaskIds: ['a2a-1'] }), { references: [t1] });
    const t2 = named('task', 'new2');
    expect(story.graph.out(t2).map(({ type, to }) => [type, to])).toEqual([['related-to', t1]]);
  });

  it('under a new protocol-local id of the same Dialog is bound to it', () => {
    see(message({ contextId: 'ctx-2' }), { dialog: d1 });
    expect(story.graph.dialog(d1)?.local.map(({ localId }) => localId)).toEqual(['ctx-2', 'ctx-1']);
  });

  it('after an end that was only inferred goes on in the same Dialog', () => {
    story.say(d1, {
      says: 'dialog.state',
      state: 'terminated',
      inferred: true,
      reason: 'completed',
    });
    see(message({ messageId: 'm-2' }));
    expect(story.graph.dialog(d1)?.state).toBe('active');
    expect(story.graph.dialogs()).toHaveLength(1);
  });

  it('after an end that was signalled opens a Dialog that continues it', () => {
    story.say(d1, { says: 'dialog.state', state: 'terminated', reason: 'completed' });
    see(message({ taskId: 'a2a-2' }));
    const d2 = named('dialog', 'new2');
    expect(story.graph.dialog(d2)).toMatchObject({ activity: a1, managed: 'ours' });
    expect(story.graph.out(d2).map(({ type, to }) => [type, to])).toEqual([
      ['continuation-of', d1],
    ]);
    expect(story.graph.dialog(d1)?.state).toBe('terminated');
    see(task('in-progress', { taskId: 'a2a-2' }));
    expect(story.graph.dialog(d2)?.state).toBe('active');
    expect(story.graph.tasksOf(d2)).toHaveLength(1);
  });

  it('goes nowhere near a Dialog that only happens to be in the slice', () => {
    const drafts = see(message(), { dialog: undefined });
    expect(says(drafts)).toContain('activity.opened');
    expect(story.graph.dialogs()).toHaveLength(2);
  });

  it('from another server with an equal context id is another case', () => {
    const endpoint = 'https://elsewhere.example';
    see(message({ side: 'client', endpoint }));
    expect(story.graph.dialogs()).toHaveLength(2);
  });

  it('late, about a Task of a Dialog whose end was inferred, withdraws no end', () => {
    see(message({ taskId: 'a2a-2' }));
    story.say(d1, { says: 'dialog.state', state: 'terminated', inferred: true });
    see(task('completed', { taskId: 'a2a-2' }));
    expect(story.graph.dialog(d1)?.state).toBe('terminated');
  });
});

describe('an envelope', () => {
  const dialog = named('dialog', 'asked');
  const run = named('task', 'run');
  const attempt = named('task', 'attempt');
  let resource: string;
  const asked = {
    contextId: 'ctx-9',
    taskId: 'a2a-9',
    server: { kind: 'agent', name: 'worker' },
  } as const;

  beforeEach(() => {
    see(message({ taskId: 'a2a-1' }));
    story.participant('worker');
    story.dialog('asked', a1, [desk, worker]);
    story.say(run, { says: 'task.defined', dialog: d1 });
    story.say(attempt, { says: 'task.defined', dialog });
    resource = story.resource('terms', a1);
  });

  const verified = (): Partial<Resolved> => ({
    client: desk,
    server: worker,
    envelope: { dialog, task: attempt },
  });

  it('that is verified binds Dialog and Task, and opens nothing', () => {
    const drafts = see(message(asked), verified());
    expect(says(drafts)).toEqual(['dialog.bound', 'task.bound']);
    expect(story.graph.dialog(dialog)?.local[0]?.localId).toBe('ctx-9');
    expect(story.graph.task(attempt)?.localId).toBe('a2a-9');
  });

  it('that is not verified opens an Activity of its own', () => {
    const envelope = { v: 1, dialog, task: attempt } as const;
    see(message({ ...asked, envelope }), { client: desk, server: worker });
    expect(story.graph.dialog(dialog)?.local).toEqual([]);
    expect(story.graph.dialogs()).toHaveLength(3);
  });

  it('does not move a message out of the Dialog that its context is bound to', () => {
    see(message({ taskId: 'a2a-2' }), { envelope: { dialog, task: attempt } });
    expect(story.graph.tasksOf(d1).map(({ localId }) => localId)).toContain('a2a-2');
    expect(story.graph.task(attempt)).not.toHaveProperty('localId');
  });

  it('binds no second local id to a Task that is over', () => {
    see(message(asked), verified());
    see(task('failed', asked), verified());
    see(message({ ...asked, taskId: 'a2a-10' }), verified());
    expect(story.graph.task(attempt)?.localId).toBe('a2a-9');
    expect(story.graph.tasksOf(dialog)).toHaveLength(2);
  });

  it('tells relationships between things of the Activity, where the type is shown', () => {
    const relationships = [
      { type: 'input-to', from: resource, to: attempt, role: 'terms' },
      { from: attempt, to: run },
      { type: 'related-to', from: attempt, to: named('task', 'nowhere') },
    ];
    const told = message({ ...asked, envelope: { v: 1, relationships } });
    see(told, verified());
    expect([...story.graph.relationships()]).toEqual([
      expect.objectContaining({ type: 'input-to', from: resource, to: attempt, role: 'terms' }),
    ]);
    expect(see(told, verified())).toEqual([]);
  });

  it('tells no relationship when it is not verified', () => {
    const relationships = [{ type: 'related-to', from: run, to: t1 }];
    see(message({ envelope: { v: 1, relationships } }));
    expect([...story.graph.relationships()]).toEqual([]);
  });

  it('tells no relationship of what its sender has no say about', () => {
    const other = story.task('T7', story.dialog('D7', a1, [user, desk]));
    const others = story.task('T8', story.dialog('D8', a1, [user, story.participant('fellow')]));
    const theirs = story.resource('theirs', a1);
    story.relate('output-of', theirs, others);
    const relationships = [
      { type: 'related-to', from: others, to: attempt },
      { type: 'delegated-from', from: attempt, to: others },
      { type: 'input-to', from: theirs, to: attempt },
      { type: 'related-to', from: a1, to: attempt },
    ];
    const before = [...story.graph.relationships()];
    see(message({ ...asked, envelope: { v: 1, relationships } }), verified());
    expect([...story.graph.relationships()]).toEqual(before);
    const own = [{ type: 'related-to', from: other, to: others }];
    see(message({ ...asked, envelope: { v: 1, relationships: own } }), verified());
    expect([...story.graph.relationships()]).toHaveLength(before.length + 1);
  });

  it('names no Resource that others use and its sender has no say about', () => {
    const theirs = story.resource('theirs', a1);
    const others = story.task('T8', story.dialog('D8', a1, [user, story.participant('fellow')]));
    story.relate('output-of', theirs, others);
    see(message({ ...asked, resources: [{ id: theirs }] }), verified());
    expect(story.graph.out(theirs)).toHaveLength(1);
  });

  it('names Resources that are known, and none of another Activity', () => {
    const foreign = story.resource('foreign', story.activity('other', user));
    see(message({ ...asked, resources: [{ id: resource }, { id: foreign }] }), verified());
    expect(story.graph.in(attempt, ['input-to']).map(({ from }) => from)).toEqual([resource, r1]);
    expect(story.graph.out(foreign)).toEqual([]);
  });
});

describe('what a message carries', () => {
  it('goes into its Task as Resources, its own words excepted', () => {
    const resources: ResourceNote[] = [
      { mediaType: 'text/plain', digest: digest(1), size: 12 },
      { mediaType: 'text/plain', digest: digest(2), name: 'notes.txt' },
      { mediaType: 'application/json', digest: digest(3) },
      { locator: 'https://files.example/1' },
      { mediaType: 'application/json' },
    ];
    see(message({ taskId: 'a2a-1', resources }));
    expect(inputs().map((id) => story.graph.resource(id)?.digest)).toEqual([
      digest(2),
      digest(3),
      undefined,
    ]);
  });

  it('is one Resource for the same bytes in one Activity', () => {
    const carried = { digest: digest(1), mediaType: 'image/png' };
    see(message({ taskId: 'a2a-1', resources: [carried, carried] }));
    see(message({ taskId: 'a2a-2', messageId: 'm-2', resources: [carried] }));
    expect(inputs()).toEqual([r1]);
    expect(story.graph.out(r1)).toHaveLength(2);
  });

  it('goes into the Dialog when it makes no Task', () => {
    see(message({ resources: [{ locator: 'https://files.example/1' }] }));
    expect(story.graph.in(d1).map(({ type }) => type)).toEqual(['input-to']);
  });
});

describe('what a Task puts out', () => {
  const output = { digest: digest(1), name: 'result', mediaType: 'text/plain' };
  it('is a Resource with that producer, plain text too', () => {
    see(task('in-progress'));
    see(artifact(output));
    expect(producers()).toEqual([[r1, t1]]);
    expect(story.graph.resource(r1)).toEqual({ id: r1, activity: a1, ...output });
  });

  it('is another Resource when another Task puts out the same bytes', () => {
    see(task('in-progress'));
    see(artifact(output));
    see(task('in-progress', { taskId: 'a2a-2' }));
    see(artifact(output, { taskId: 'a2a-2' }));
    expect(producers()).toEqual([
      [r1, t1],
      [named('resource', 'new2'), named('task', 'new2')],
    ]);
  });

  it('is not the input that it repeats', () => {
    see(message({ taskId: 'a2a-1', resources: [output] }));
    see(artifact(output));
    expect(producers()).toEqual([[named('resource', 'new2'), t1]]);
  });

  it('is the Resource that was offloaded for it before', () => {
    see(task('in-progress'));
    const stored = story.resource('stored', a1);
    story.say(stored, { says: 'resource.known', activity: a1, digest: digest(1) });
    see(artifact({ digest: digest(1) }));
    expect(producers()).toEqual([[stored, t1]]);
    const other = story.resource('named', a1);
    see(artifact({ id: other }));
    expect(producers()).toContainEqual([other, t1]);
  });
});

describe('states', () => {
  it('carry what is awaited and how it came out', () => {
    see(task('awaiting', { awaiting: 'input' }));
    expect(now()).toMatchObject({ state: 'awaiting', awaiting: 'input' });
    expect(says(see(task('awaiting', { awaiting: 'authorization' })))).toEqual(['task.state']);
    see(task('completed', { outcome: 'error' }));
    expect(now()).toMatchObject({ state: 'completed', outcome: 'error', stateBasis: 'reported' });
  });

  it('of a Task that was only submitted are not told: it is defined', () => {
    expect(says(see(task('defined')))).not.toContain('task.state');
    see(task('in-progress'));
    expect(see(task('defined'))).toEqual([]);
  });

  it('that the server reports make known what was unresolved', () => {
    see(task('in-progress'));
    story.say(t1, { says: 'task.unresolved' });
    see(task('completed'));
    expect(now()).not.toHaveProperty('unresolved');
  });

  it('that were seen are confirmed by the server, once', () => {
    see(task('completed', { side: 'client' }));
    expect(now()?.stateBasis).toBe('observed');
    expect(says(see(task('completed')))).toEqual(['task.state']);
    expect(now()?.stateBasis).toBe('reported');
    expect(see(task('completed'))).toEqual([]);
  });

  it('that a client sees beside the server’s report say nothing, unless they are another end', () => {
    see(task('awaiting', { awaiting: 'input' }));
    const client = { side: 'client' } as const;
    expect(see(task('in-progress', client))).toEqual([]);
    expect(see(task('awaiting', { ...client, awaiting: 'input' }))).toEqual([]);
    expect(see(artifact({ digest: digest(1) }, client))).toEqual([]);
    expect(
      see(message({ ...client, taskId: 'a2a-1', resources: [{ digest: digest(1) }] })),
    ).toEqual([]);
    expect(says(see(task('failed', client)))).toEqual(['task.state']);
    expect(now()).toMatchObject({
      state: 'awaiting',
      contested: [{ source: user, basis: 'observed', state: 'failed' }],
    });
    expect(see(task('failed', client))).toEqual([]);
  });
});

describe('a request to cancel', () => {
  it('is noted on the Task and changes no state', () => {
    see(task('in-progress'));
    expect(says(see(cancel()))).toEqual(['task.cancel-requested']);
    expect(story.graph.task(t1)).toMatchObject({ state: 'in-progress', cancelRequested: true });
  });

  it('for a Task that nobody knows says nothing', () => {
    expect(see(cancel())).toEqual([]);
    see(task('in-progress'));
    expect(see(cancel({ taskId: 'unknown' }))).toEqual([]);
  });
});
