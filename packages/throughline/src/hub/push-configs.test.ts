import { beforeEach, describe, expect, it } from 'vitest';
import { limits, type Principal, type PushConfig, type TaskRecord } from '../model/index.ts';
import {
  bob,
  boss,
  checker,
  desk,
  mallory,
  priya,
  refusal,
  refused,
  Scene,
  stores,
} from './conformance.ts';

const configFor = (taskId: string, more: Partial<PushConfig> = {}): PushConfig => ({
  id: 'hook',
  taskId,
  url: 'https://priya.example/hook?key=1',
  token: 'secret-of-priya',
  authentication: { scheme: 'Bearer', credentials: 'credentials-of-priya' },
  protocolVersion: '1.0',
  ...more,
});

describe.each(stores)('push configs (%s)', (_name, open) => {
  let scene: Scene;
  let task: TaskRecord;

  beforeEach(async () => {
    scene = await Scene.open(open);
    task = await scene.task(priya);
  });

  const save = (principal: Principal, config: PushConfig = configFor(task.id)) =>
    scene.hub.savePushConfig({ principal }, config);
  const load = (principal: Principal, taskId = task.id) =>
    scene.hub.loadPushConfigs({ principal }, { taskId });

  it('are kept for their owner and told to the executing agent', async () => {
    await save(priya);
    const kept = [{ ...configFor(task.id), owner: 'priya' }];
    expect(await load(priya)).toEqual(kept);
    expect(await load(desk)).toEqual(kept);
    await save(priya, configFor(task.id, { url: 'https://priya.example/other' }));
    expect((await load(priya)).map(({ url }) => url)).toEqual(['https://priya.example/other']);
    await scene.hub.deletePushConfig({ principal: priya }, task.id, 'hook');
    await scene.hub.deletePushConfig({ principal: priya }, task.id, 'hook');
    expect(await load(priya)).toEqual([]);
  });

  it.each([
    ['a stranger', bob],
    ['another tenant', mallory],
    ['an operator', boss],
    ['another agent', checker],
  ])(
    'are refused to %s as if the task were not there, and nothing is written',
    async (_who, who) => {
      await save(priya);
      const before = await scene.state();
      const foreign = await Promise.all([
        refused(save(who)),
        refused(load(who)),
        refused(scene.hub.deletePushConfig({ principal: who }, task.id, 'hook')),
        refused(
          scene.hub.settlePushConfig({ principal: who }, { ...configFor(task.id), owner: 'priya' }),
        ),
      ]);
      const missing = await refused(load(priya, 'task-99'));
      for (const { code, message } of foreign) {
        expect([code, message.replace(task.id, 'task-99')]).toEqual([
          missing.code,
          missing.message,
        ]);
      }
      expect(await scene.state()).toEqual(before);
      expect(await load(priya)).toHaveLength(1);
    },
  );

  it('of others are neither shown to a grantee nor told once the grant is gone', async () => {
    await save(priya);
    const { contextId } = task;
    const grant = await scene.hub.grant(priya, contextId, {
      grantee: 'bob',
      operations: ['get', 'push'],
    });
    expect(await load(bob)).toEqual([]);
    await save(bob, configFor(task.id, { url: 'https://bob.example/' }));
    expect((await load(bob)).map(({ owner }) => owner)).toEqual(['bob']);
    expect((await load(priya)).map(({ owner }) => owner)).toEqual(['priya']);
    expect(new Set((await load(desk)).map(({ owner }) => owner))).toEqual(
      new Set(['bob', 'priya']),
    );
    await scene.hub.revokeGrant(priya, grant.id);
    expect((await load(desk)).map(({ owner }) => owner)).toEqual(['priya']);
  });

  it('that come with a write of the task are kept with it, or neither is', async () => {
    const write = (principal: Principal, more: Partial<TaskRecord>, config = configFor(task.id)) =>
      scene.hub.saveTask({ principal, via: desk }, { ...task, ...more }, [], [config]);
    const before = await scene.state();
    expect(await refusal(write(priya, { version: 0 }))).toBe('conflict');
    const { contextId } = task;
    await scene.hub.grant(priya, contextId, { grantee: 'bob', operations: ['get', 'send'] });
    expect(await refusal(write(bob, {}))).toBe('not-found');
    expect((await scene.hub.loadTask({ principal: priya }, task.id))?.version).toBe(task.version);
    expect(await load(desk)).toEqual([]);
    expect((await scene.state()).hash).toBe(before.hash);
    await write(priya, {});
    expect(await load(priya)).toMatchObject([{ id: 'hook', owner: 'priya' }]);
  });

  it('that a message brings are refused before it is let in', async () => {
    const { id: taskId, contextId } = task;
    await scene.hub.grant(priya, contextId, { grantee: 'bob', operations: ['get', 'send'] });
    const before = await scene.state();
    expect(await refusal(scene.admit(bob, { taskId, pushConfig: 'hook' }))).toBe('not-found');
    expect(await scene.state()).toEqual(before);
    for (let i = 0; i < limits.pushConfigs; i++)
      await save(priya, configFor(taskId, { id: `h${i}` }));
    expect(await refusal(scene.admit(priya, { taskId, pushConfig: 'more' }))).toBe('quota');
    expect(await scene.admit(priya, { taskId, pushConfig: 'h0' })).toMatchObject({ kind: 'new' });
    expect(await scene.admit(bob, { contextId, pushConfig: 'hook' })).toMatchObject({
      kind: 'new',
    });
  });

  it('are bounded in number for each task', async () => {
    for (let i = 0; i < limits.pushConfigs; i++)
      await save(priya, configFor(task.id, { id: `h${i}` }));
    expect(await refusal(save(priya, configFor(task.id, { id: 'more' })))).toBe('quota');
    await save(priya, configFor(task.id, { id: 'h0', url: 'https://again.example/' }));
    expect(await load(priya)).toHaveLength(limits.pushConfigs);
  });

  it.each([
    ['an id that is no segment', { id: '../other' }],
    ['a header that ends early', { token: 'a\r\nx: y' }],
    ['credentials that end early', { authentication: { scheme: 'Bearer', credentials: 'a\nb' } }],
    ['a scheme with a blank', { authentication: { scheme: 'Be arer', credentials: 'a' } }],
    ['a URL without end', { url: `https://a.example/${'x'.repeat(9_000)}` }],
  ])('are refused with %s', async (_what, more) => {
    expect(await refusal(save(priya, configFor(task.id, more)))).toBe('invalid');
  });

  /** Until then whoever wrote the end of a task has it to tell. */
  const lease = 120_001;

  it('are due after the end of the task until the agent settles them, each to one who asks', async () => {
    const due = async () =>
      (await scene.hub.loadPushConfigs({ principal: desk }, {})).map((c) => c.id);
    await save(priya);
    const settled = { ...configFor(task.id), owner: 'priya' };
    await scene.hub.settlePushConfig({ principal: desk }, settled);
    expect(await due()).toEqual([]);
    await scene.move(task, 'completed');
    expect(await due()).toEqual([]);
    scene.pass(lease);
    expect(await scene.hub.loadPushConfigs({ principal: checker }, {})).toEqual([]);
    expect((await Promise.all([due(), due(), due()])).flat()).toEqual(['hook']);
    scene.pass(lease);
    expect(await due()).toEqual(['hook']);
    await scene.hub.settlePushConfig({ principal: desk }, settled);
    scene.pass(lease);
    expect(await due()).toEqual([]);
    expect(await load(priya)).toHaveLength(1);
  });

  it('that are asked for after the end are due when whoever keeps them does not tell it', async () => {
    const over = await scene.move(task, 'completed');
    await save(priya, configFor(over.id));
    const due = () => scene.hub.loadPushConfigs({ principal: desk }, {});
    expect(await due()).toEqual([]);
    scene.pass(lease);
    expect(await due()).toHaveLength(1);
  });

  it('of one whose right is gone are not due, and keep no others waiting', async () => {
    const { contextId } = task;
    const grant = await scene.hub.grant(priya, contextId, { grantee: 'bob', operations: ['push'] });
    await save(bob, configFor(task.id, { url: 'https://bob.example/' }));
    await save(priya);
    await scene.move(task, 'completed');
    await scene.hub.revokeGrant(priya, grant.id);
    scene.pass(lease);
    const due = await scene.hub.loadPushConfigs({ principal: desk }, {});
    expect(due.map(({ owner }) => owner)).toEqual(['priya']);
  });
});
