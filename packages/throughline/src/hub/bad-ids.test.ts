import { beforeAll, describe, expect, it } from 'vitest';
import { ThroughlineError, type Principal } from '../model/index.ts';
import { boss, checker, desk, mallory, priya, Scene, stores } from './conformance.ts';

/** Id → what a call with it must be refused with; `expired` and `foreign` are filled in by the scene. */
const ids: Readonly<Record<string, string>> = {
  unknown: 'no-such-thing',
  'unknown context': 'ctx_00000000000000000000000000',
  'unknown task': 'tsk_00000000000000000000000000',
  'unknown case': 'act_00000000000000000000000000',
  empty: '',
  'of 1,000 characters': 'x'.repeat(1_000),
  'a lone surrogate': 'a\uD800b',
  NUL: 'a\0b',
  'a line break': 'a\nb',
  'a path': '../victim',
  'a deeper path': 'a/b/c',
  'a Windows path': 'a\\b',
  'an encoded path': '..%2Fvictim',
  'two dots': '..',
  'a SQL fragment': "'; drop table record; --",
  'the name of a property': '__proto__',
};

interface Target {
  readonly scene: Scene;
  readonly own: { contextId: string; id: string; activity: string; dialog: string; task: string };
}

type Call = (target: Target, id: string, by: Principal) => Promise<unknown>;

const at = '2031-05-04T10:00:00.000Z';
const bytes = Buffer.from('x');
const mediaType = 'text/plain';

const calls: Readonly<Record<string, Call>> = {
  'admit contextId': ({ scene }, contextId, by) => scene.admit(by, { contextId }),
  'admit taskId': ({ scene }, taskId, by) => scene.admit(by, { taskId }),
  'admit reference': ({ scene }, id, by) => scene.admit(by, { references: [id] }),
  'saveTask contextId': ({ scene }, contextId) =>
    scene.begin(priya, { contextId, messageId: 'never' }),
  'saveReply contextId': ({ scene }, contextId) =>
    scene.hub.saveReply(
      { principal: desk },
      { agent: 'desk', messageId: 'never', contextId, reply: {} },
      [],
    ),
  'observe taskId': ({ scene, own }, taskId, by) =>
    scene.hub.observe({ principal: by }, [
      {
        kind: 'cancel-request',
        protocol: 'a2a',
        side: 'server',
        endpoint: 'https://hub.example/',
        contextId: own.contextId,
        client: { kind: 'user', principal: by.id },
        server: { kind: 'agent', principal: 'desk' },
        at,
        taskId,
      },
    ]),
  caseView: ({ scene }, id, by) => scene.hub.caseView(by, id),
  timeline: ({ scene }, id, by) => scene.hub.timeline(by, id),
  explain: ({ scene }, id, by) => scene.hub.explain(by, id),
  'explain second': ({ scene, own }, id, by) => scene.hub.explain(by, own.id, id),
  'handoverTexts case': ({ scene, own }, id, by) => scene.hub.handoverTexts(by, id, own.task),
  'handoverTexts task': ({ scene, own }, id, by) => scene.hub.handoverTexts(by, own.contextId, id),
  grant: ({ scene }, id, by) => scene.hub.grant(by, id, { grantee: 'carol', operations: ['get'] }),
  grants: ({ scene }, id, by) => scene.hub.grants(by, id),
  revokeGrant: ({ scene }, id, by) => scene.hub.revokeGrant(by, id),
  revokeKey: ({ scene }, id) => scene.hub.revokeKey(boss, id),
  locate: ({ scene }, id, by) => scene.hub.master(by).locate(id),
  'assert about': ({ scene }, about, by) =>
    scene.hub.master(by).assert([{ about, statement: { says: 'task.state', state: 'completed' } }]),
  'assert dialog': ({ scene }, dialog, by) =>
    scene.hub
      .master(by)
      .assert([
        { about: scene.hub.master(by).newId('task'), statement: { says: 'task.defined', dialog } },
      ]),
  'putContent activity': ({ scene }, activity, by) =>
    scene.hub
      .master(by)
      .putContent({ activity, resource: scene.hub.master(by).newId('resource'), mediaType, bytes }),
  'putContent resource': ({ scene, own }, resource) =>
    scene.hub.master(desk).putContent({ activity: own.activity, resource, mediaType, bytes }),
  getContent: ({ scene }, id, by) =>
    scene.hub.master(by).getContent(`https://hub.example/content/${id}`),
  'getContent whole': ({ scene }, id, by) => scene.hub.master(by).getContent(id),
  readToken: ({ scene }, id, by) =>
    scene.hub.master(by).readToken({ uris: [id], audience: 'checker', seconds: 60 }),
  putOutput: ({ scene }, taskId) =>
    scene.hub.agent(desk).putOutput({ taskId, name: 'x', mediaType, bytes }),
  'saveRun activity': ({ scene }, activity, by) =>
    scene.hub.master(by).saveRun({ id: 'r', activity, done: false, state: {}, expected: 0 }),
  'saveHandover task': ({ scene, own }, task) =>
    scene.hub.master(desk).saveHandover(
      {
        task,
        dialog: own.dialog,
        agent: 'a',
        withheld: [],
        tokenizer: 't',
        sent: 0,
        fullHistory: 0,
      },
      { sent: '', fullHistory: '' },
    ),
};

const named = new Set(['invalid', 'not-found', 'context-refused']);

/** The code of the refusal, or what came of it instead. */
async function outcome(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return 'went through';
  } catch (error) {
    return error instanceof ThroughlineError ? error.code : `threw ${String(error)}`;
  }
}

describe.each(stores)('an id that means nothing to the caller (%s)', (_name, open) => {
  let target: Target;
  let expired: string;

  beforeAll(async () => {
    const scene = await Scene.open(open);
    ({ contextId: expired } = await scene.admit(priya));
    scene.pass(31 * 86_400_000);
    const task = await scene.task(priya);
    const place = await scene.hub.master(desk).locate(task.id);
    target = { scene, own: { contextId: task.contextId, id: task.id, ...place } };
  });

  const matrix = Object.keys(calls).flatMap((call) => Object.keys(ids).map((id) => ({ call, id })));

  it.each(matrix)('$call: $id', async ({ call, id }) => {
    const before = await target.scene.state();
    const result = await outcome(async () => calls[call]?.(target, ids[id] ?? '', priya));
    expect(named).toContain(result);
    expect(await target.scene.state()).toEqual(before);
  });

  it.each(Object.keys(calls))('%s: what is foreign answers as what is unknown', async (call) => {
    const before = await target.scene.state();
    const { own } = target;
    for (const by of [mallory, { ...checker, role: 'caller' as const }]) {
      for (const id of [own.contextId, own.id, own.activity, own.dialog, own.task]) {
        const kind = id.slice(0, 4);
        const missing = kind.endsWith('_') ? `${kind}00000000000000000000000000` : 'task-99';
        if (
          ['saveTask contextId', 'saveReply contextId', 'putOutput', 'saveHandover task'].includes(
            call,
          )
        )
          continue;
        if (call === 'putContent resource' || call === 'revokeKey') continue;
        const foreign = await outcome(async () => calls[call]?.(target, id, by));
        expect(named).toContain(foreign);
        expect(foreign).toBe(await outcome(async () => calls[call]?.(target, missing, by)));
      }
    }
    expect(await target.scene.state()).toEqual(before);
  });

  it('is refused when its context is over, and nothing is written', async () => {
    const before = await target.scene.state();
    const { scene } = target;
    expect(await outcome(() => scene.admit(priya, { contextId: expired }))).toBe('context-refused');
    expect(
      await outcome(() => scene.hub.grant(priya, expired, { grantee: 'bob', operations: ['get'] })),
    ).toBe('context-refused');
    expect(await scene.state()).toEqual(before);
  });

  it.each(Object.keys(ids))(
    'as a filter gives an empty list or a named refusal: %s',
    async (id) => {
      const before = await target.scene.state();
      const list = () =>
        target.scene.hub.listTasks({ principal: priya }, { contextId: ids[id] ?? '' });
      const result = await list().then(
        ({ tasks, total }) => ({ tasks, total }),
        (error: unknown) => (error instanceof ThroughlineError ? error.code : error),
      );
      expect([{ tasks: [], total: 0 }, 'invalid']).toContainEqual(result);
      const load = await outcome(async () => {
        expect(
          await target.scene.hub.loadTask({ principal: priya }, ids[id] ?? ''),
        ).toBeUndefined();
        expect(await target.scene.hub.master(priya).loadRun(ids[id] ?? '')).toBeUndefined();
      });
      expect(['went through', 'invalid']).toContain(load);
      expect(await target.scene.state()).toEqual(before);
    },
  );
});
