import { beforeEach, describe, expect, it } from 'vitest';
import { bob, boss, checker, mallory, priya, refusal, Scene, stores } from './conformance.ts';

describe.each(stores)('a grant (%s)', (_name, open) => {
  let scene: Scene;
  let contextId: string;

  beforeEach(async () => {
    scene = await Scene.open(open);
    ({ contextId } = await scene.task(priya));
  });

  it('lets its grantee do what it names until it is revoked', async () => {
    const grant = await scene.hub.grant(priya, contextId, {
      grantee: 'bob',
      operations: ['send', 'get'],
    });
    expect(grant).toMatchObject({ contextId, grantee: 'bob', grantedBy: 'priya', revoked: false });
    const task = await scene.task(bob, { contextId, agent: checker });
    expect(task.contextId).toBe(contextId);
    const view = await scene.hub.caseView(bob, contextId);
    expect(view.summary.counts).toMatchObject({ activities: 1, dialogs: 1, tasks: 2 });
    expect(view.participants).toHaveLength(4);
    await scene.hub.revokeGrant(priya, grant.id);
    expect(await refusal(scene.hub.caseView(bob, contextId))).toBe('not-found');
    expect(await refusal(scene.admit(bob, { contextId }))).toBe('context-refused');
    expect(await scene.hub.loadTask({ principal: bob }, task.id)).toMatchObject({ id: task.id });
    expect(await scene.hub.grants(priya, contextId)).toMatchObject([
      { id: grant.id, revoked: true },
    ]);
    await scene.hub.revokeGrant(priya, grant.id);
  });

  it('ends at its time', async () => {
    const expiresAt = new Date(scene.now.getTime() + 60_000).toISOString();
    const request = { grantee: 'bob', operations: ['get' as const], expiresAt };
    expect(await scene.hub.grant(priya, contextId, request)).toMatchObject({ expiresAt });
    expect(await scene.hub.caseView(bob, contextId)).toMatchObject({ summary: { contextId } });
    scene.pass(60_000);
    expect(await refusal(scene.hub.caseView(bob, contextId))).toBe('not-found');
    expect(await refusal(scene.hub.grant(priya, contextId, request))).toBe('invalid');
  });

  it('shows history from its number on', async () => {
    const { seq } = await scene.hub.health();
    const late = await scene.task(priya, { contextId });
    await scene.hub.grant(priya, contextId, {
      grantee: 'bob',
      operations: ['get'],
      fromSequence: seq + 1,
    });
    const view = await scene.hub.caseView(bob, contextId);
    expect(view.tasks.map(({ localId }) => localId)).toEqual([late.id]);
    expect(view.summary.counts.tasks).toBe(1);
    const { assertions } = await scene.hub.timeline(bob, contextId);
    expect(assertions.length).toBeGreaterThan(0);
    expect(assertions.every((each) => each.seq > seq)).toBe(true);
    const whole = await scene.hub.caseView(priya, contextId);
    const early = whole.tasks.find(({ localId }) => localId !== late.id)?.id ?? '';
    expect(await refusal(scene.hub.explain(bob, early))).toBe('not-found');
    expect(await scene.hub.explain(bob, late.id)).toMatchObject({ to: whole.summary.activity });
  });

  it('shows no words from before its number, wherever the case is named', async () => {
    const { activity, objective = '' } = (await scene.hub.caseView(priya, contextId)).summary;
    const { seq } = await scene.hub.health();
    const mine = (await scene.task(bob)).contextId;
    const request = { grantee: 'bob', operations: ['get' as const], fromSequence: seq + 1 };
    await scene.hub.grant(priya, contextId, request);
    const cases = async (text?: string) =>
      (await scene.hub.cases(bob, text === undefined ? {} : { text })).cases;
    const view = await scene.hub.caseView(bob, contextId);
    const row = (await cases()).find((each) => each.activity === activity);
    expect([view.summary.contextId, row?.contextId]).toEqual([contextId, contextId]);
    expect(view.dialogs).toHaveLength(1);
    expect(JSON.stringify([view, row])).not.toContain(objective);
    expect((await cases(objective)).map((each) => each.contextId)).toEqual([mine]);
    await scene.hub.grant(priya, contextId, { ...request, fromSequence: 0 });
    expect((await scene.hub.caseView(bob, contextId)).summary.objective).toBe(objective);
    expect(await cases(objective)).toHaveLength(2);
  });

  it('can be given and revoked by the owner and an operator, by nobody else', async () => {
    const request = { grantee: 'carol', operations: ['get' as const] };
    await scene.hub.grant(priya, contextId, {
      grantee: 'bob',
      operations: ['get', 'list', 'send'],
    });
    const { id } = await scene.hub.grant(boss, contextId, request);
    const before = await scene.state();
    for (const principal of [bob, mallory, checker]) {
      expect(await refusal(scene.hub.grant(principal, contextId, request))).toBe('context-refused');
      expect(await refusal(scene.hub.grants(principal, contextId))).toBe('context-refused');
      expect(await refusal(scene.hub.revokeGrant(principal, id))).toBe('not-found');
    }
    expect(await refusal(scene.hub.grant(priya, contextId, { ...request, grantee: 'priya' }))).toBe(
      'invalid',
    );
    expect(await refusal(scene.hub.grant(priya, contextId, { ...request, operations: [] }))).toBe(
      'invalid',
    );
    expect(await scene.state()).toEqual(before);
  });

  it('can not be piled up without end', async () => {
    const request = { grantee: 'bob', operations: ['get' as const] };
    for (let i = 0; i < 64; i++) await scene.hub.grant(priya, contextId, request);
    expect(await refusal(scene.hub.grant(priya, contextId, request))).toBe('quota');
  });
});
