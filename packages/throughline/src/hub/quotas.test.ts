import { beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode, Principal, QuotaLimits, Quotas } from '../model/index.ts';
import { ThroughlineError } from '../model/index.ts';
import {
  bob,
  boss,
  desk,
  mallory,
  priya,
  refusal,
  refused,
  rivalBoss,
  Scene,
  stores,
  twoOnOneFile,
} from './conformance.ts';

/** How many of these went through, and how the others were refused. */
async function outcomes(
  calls: readonly Promise<unknown>[],
): Promise<{ done: number; refused: Set<ErrorCode | 'other'> }> {
  const settled = await Promise.allSettled(calls);
  const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const codes = failures.map((error: unknown) =>
    error instanceof ThroughlineError ? error.code : 'other',
  );
  return { done: settled.length - failures.length, refused: new Set(codes) };
}

describe.each(stores)('quotas (%s)', (_name, open) => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.open(open);
  });

  const limit = (principal: QuotaLimits, tenant: QuotaLimits = {}) =>
    scene.hub.setQuotas(boss, { tenant, principal });
  const used = async (of: Principal = priya) => {
    const report = await scene.hub.quotaReport(boss, of.id);
    return { mine: report.used.principal ?? {}, ours: report.used.tenant };
  };

  it('bound contexts, for a principal and for the tenant, right under concurrency', async () => {
    await limit({ contexts: 3 }, { contexts: 5 });
    const mine = await outcomes(Array.from({ length: 10 }, () => scene.admit(priya)));
    expect(mine).toEqual({ done: 3, refused: new Set(['quota']) });
    const theirs = await outcomes(Array.from({ length: 10 }, () => scene.admit(bob)));
    expect(theirs).toEqual({ done: 2, refused: new Set(['quota']) });
    expect(await used()).toMatchObject({ mine: { contexts: 3 }, ours: { contexts: 5 } });
    expect(await scene.admit(mallory)).toMatchObject({ kind: 'new' });
    const error = await refused(scene.admit(priya));
    expect(error.details).toEqual({ quota: 'contexts', scope: 'principal', limit: 3 });
    expect(error.retryable).toBe(false);
  });

  it('give a context’s place back once it is over', async () => {
    await limit({ contexts: 1 });
    const { contextId } = await scene.admit(priya);
    expect(await refusal(scene.admit(priya))).toBe('quota');
    expect(await scene.admit(priya, { contextId })).toMatchObject({ issued: false });
    scene.pass(31 * 86_400_000);
    await scene.hub.sweep();
    expect(await scene.admit(priya)).toMatchObject({ issued: true });
  });

  it('bound open tasks, before anything runs and again when one is stored', async () => {
    await limit({ openTasks: 2 });
    const admitted = await Promise.all(
      ['a', 'b', 'c'].map(async (messageId) => ({
        ...(await scene.admit(priya, { messageId })),
        messageId,
      })),
    );
    const begun = await outcomes(admitted.map((each) => scene.begin(priya, each)));
    expect(begun).toEqual({ done: 2, refused: new Set(['quota']) });
    expect(await refusal(scene.admit(priya))).toBe('quota');
    const { tasks } = await scene.hub.listTasks({ principal: priya }, {});
    const [task] = tasks;
    if (task === undefined) throw new Error('no task');
    expect(await scene.admit(priya, { taskId: task.id })).toMatchObject({ kind: 'new' });
    await scene.move(task, 'completed');
    expect(await used()).toMatchObject({ mine: { openTasks: 1 } });
    expect(await scene.task(priya)).toMatchObject({ version: 1 });
  });

  it('bound messages within any minute, and say when to come again', async () => {
    await limit({ messagesPerMinute: 2 });
    const { contextId } = await scene.admit(priya, { messageId: 'first' });
    scene.pass(20_000);
    await scene.admit(priya, { contextId });
    const error = await refused(scene.admit(priya, { contextId }));
    expect(error.details).toMatchObject({ quota: 'messagesPerMinute', retryAfterSeconds: 40 });
    expect(error.retryable).toBe(true);
    expect(await scene.admit(priya, { messageId: 'first' })).toMatchObject({ kind: 'replay' });
    scene.pass(39_999);
    expect(await refusal(scene.admit(priya, { contextId }))).toBe('quota');
    scene.pass(1);
    expect(await scene.admit(priya, { contextId })).toMatchObject({ kind: 'new' });
  });

  it('bound bytes of content, which an erased case gives back', async () => {
    const task = await scene.task(priya);
    const master = scene.hub.master(desk);
    const { activity } = await master.locate(task.id);
    const put = (length: number, fill: number) =>
      master.putContent({
        activity,
        resource: master.newId('resource'),
        mediaType: 'text/plain',
        bytes: new Uint8Array(length).fill(fill),
      });
    await limit({ bytes: 100 });
    await put(60, 1);
    await put(60, 1);
    expect(await refusal(put(41, 2))).toBe('quota');
    await put(40, 3);
    expect((await used(desk)).mine).toMatchObject({ bytes: 100 });
    await scene.hub.eraseCase(boss, activity);
    expect(await used(desk)).toMatchObject({ mine: { bytes: 0 }, ours: { bytes: 0 } });
  });

  it('bound grants and keys that are in force', async () => {
    await limit({ grants: 1, keys: 1 });
    const { contextId } = await scene.admit(priya);
    const grant = () => scene.hub.grant(priya, contextId, { grantee: 'bob', operations: ['get'] });
    const first = await grant();
    expect(await refusal(grant())).toBe('quota');
    await scene.hub.revokeGrant(priya, first.id);
    await grant();
    const key = () => scene.hub.createKey(boss, { principal: bob });
    const made = await key();
    expect(await refusal(key())).toBe('quota');
    await scene.hub.revokeKey(boss, made.id);
    await key();
  });

  it('write nothing when they refuse', async () => {
    await limit({ contexts: 0 });
    const before = await scene.state();
    expect(await refusal(scene.admit(priya))).toBe('quota');
    expect(await scene.state()).toEqual(before);
  });

  it('are shown to operators and set by them, for their own tenant', async () => {
    for (const by of [priya, desk]) {
      expect(await refusal(scene.hub.quotaReport(by))).toBe('not-found');
      expect(await refusal(scene.hub.setQuotas(by, { tenant: {}, principal: {} }))).toBe(
        'not-found',
      );
    }
    await limit({ contexts: 1 });
    expect((await scene.hub.quotaReport(boss)).limits).toEqual({
      tenant: {},
      principal: { contexts: 1 },
    });
    expect((await scene.hub.quotaReport(rivalBoss)).limits).toEqual({ tenant: {}, principal: {} });
    const wrong: Quotas = { tenant: { contexts: -1 }, principal: {} };
    expect(await refusal(scene.hub.setQuotas(boss, wrong))).toBe('invalid');
  });

  it('have the hub’s own limits where no operator set others', async () => {
    const bounded = await Scene.open(open, { quotas: { principal: { contexts: 1 } } });
    await bounded.admit(priya);
    expect(await refusal(bounded.admit(priya))).toBe('quota');
    await bounded.hub.setQuotas(boss, { tenant: {}, principal: {} });
    expect(await bounded.admit(priya)).toMatchObject({ kind: 'new' });
  });
});

describe('quotas of two hubs on one file', () => {
  it('are right for both together', async () => {
    const [a, b] = await twoOnOneFile();
    const quotas = { tenant: { contexts: 7 } };
    const options = { quotas };
    const first = await Scene.open(() => Promise.resolve(a), options);
    const second = await Scene.open(() => Promise.resolve(b), options);
    const calls = Array.from({ length: 10 }, (_, i) => [
      first.admit(priya, { messageId: `a${i}` }),
      second.admit(bob, { messageId: `b${i}` }),
    ]).flat();
    expect(await outcomes(calls)).toEqual({ done: 7, refused: new Set(['quota']) });
  });
});
