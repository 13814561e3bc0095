import { beforeEach, describe, expect, it } from 'vitest';
import { observationSchema, type Observation } from '../model/index.ts';
import { counter, named, outcome, Story } from './conformance.ts';
import { interpret, type MakeId, type Resolved } from './interpret.ts';

const user = named('participant', 'user');
const desk = named('participant', 'desk');
const dialog = named('dialog', 'D');
const task = named('task', 'T');

let story: Story;
let makeId: MakeId;

const message = (contextId: string, taskId: string): Observation =>
  observationSchema.parse({
    kind: 'message',
    protocol: 'a2a',
    side: 'server',
    endpoint: 'https://desk.example/a2a',
    contextId,
    taskId,
    messageId: `m-${taskId}`,
    client: { kind: 'user', name: 'user' },
    server: { kind: 'agent', name: 'desk' },
    at: '2031-01-01T09:00:00Z',
    referenceTaskIds: [],
    resources: [],
  });

const see = (contextId: string, taskId: string, more: Partial<Resolved>) => {
  const resolved = { graph: story.graph, client: user, server: desk, ...more };
  const drafts = interpret(message(contextId, taskId), resolved, makeId);
  return story.sayAll(drafts, desk).map(outcome);
};
const boundTo = () => story.graph.dialog(dialog)?.local.map(({ localId }) => localId);
const tasks = () => story.graph.tasksOf(dialog).map(({ localId }) => localId);

beforeEach(() => {
  story = new Story();
  makeId = counter();
  story.participant('user');
  story.participant('desk');
  story.dialog('D', story.activity('act', user), [user, desk]);
  story.task('T', dialog);
});

describe('a message in another context than its Dialog is bound to', () => {
  beforeEach(() => {
    see('ctx-1', 'a2a-1', { envelope: { dialog, task } });
    expect([boundTo(), tasks()]).toEqual([['ctx-1'], ['a2a-1']]);
  });

  it('that only names the Dialog is kept as a conflict, and begins anew', () => {
    expect(see('ctx-2', 'a2a-2', { envelope: { dialog, task } })[0]).toBe('needs-rebind');
    expect([boundTo(), tasks()]).toEqual([['ctx-1'], ['a2a-1']]);
    expect(story.graph.dialogs()).toHaveLength(2);
  });

  it('that binds Dialog and Task anew goes on in them', () => {
    see('ctx-2', 'a2a-2', { envelope: { dialog, task, rebinds: [dialog, task] } });
    expect([boundTo(), tasks()]).toEqual([['ctx-2', 'ctx-1'], ['a2a-2']]);
    expect(story.graph.dialogs()).toHaveLength(1);
  });

  it('that binds the Dialog alone anew has a Task of its own', () => {
    see('ctx-2', 'a2a-2', { envelope: { dialog, task, rebinds: [dialog] } });
    expect(tasks()).toEqual(['a2a-1', 'a2a-2']);
  });
});

describe('a Dialog that has no protocol-local id yet', () => {
  it('is bound by the message of whoever opened it, and by nobody else’s', () => {
    see('ctx-1', 'a2a-1', { client: desk, server: user, envelope: { dialog, task } });
    expect(boundTo()).toEqual([]);
    see('ctx-2', 'a2a-2', { envelope: { dialog, task } });
    expect([boundTo(), tasks()]).toEqual([['ctx-2'], ['a2a-2']]);
  });
});
