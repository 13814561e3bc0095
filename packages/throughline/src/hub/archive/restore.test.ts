import { describe, expect, test } from 'vitest';
import type { Store } from '../../store/index.ts';
import { bob, boss, checker, desk, priya, refused, Scene, stores } from '../conformance.ts';
import { Hub } from '../hub.ts';
import type { Moment } from './backup.ts';
import { fillFrom, type BackupFiles } from './restore.ts';

const domainKey = new Uint8Array(32).fill(7);

interface Kept {
  readonly moment: Moment;
  readonly rows: string;
  readonly ledger: string;
}

async function backUp(scene: Scene): Promise<Kept> {
  let [rows, ledger] = ['', ''];
  const moment = await scene.hub.archive.backUp({
    rows: (lines) => (rows += lines),
    ledger: (lines) => (ledger += lines),
  });
  return { moment, rows, ledger };
}

const linesOf = (text: string) =>
  async function* (): AsyncGenerator<string> {
    yield* text.split('\n').slice(0, -1);
  };

const files = (of: Kept, ledger: Kept = of): BackupFiles => ({
  id: 'one',
  moment: of.moment,
  rows: linesOf(of.rows),
  ledger: linesOf(ledger.ledger),
});

async function restored(store: Store, from: BackupFiles): Promise<Scene> {
  await fillFrom(store, domainKey, from);
  const hub = await Hub.open({
    store,
    domainKey,
    origin: 'https://hub.example',
    restoring: from.id,
  });
  await hub.archive.finishRestore();
  return Scene.open(() => Promise.resolve(store));
}

const secret = 'my card ends in 4711';

describe.each(stores)('backup and restore on %s', { timeout: 120_000 }, (_, open) => {
  test('a restored hub is the one that was backed up, with another incarnation', async () => {
    const scene = await Scene.open(open);
    const task = await scene.task(priya, { text: secret }, { text: secret });
    const done = await scene.move(task, 'completed');
    const kept = await backUp(scene);
    await scene.task(priya, {}, { text: 'after the backup' });
    const there = await restored(await open(), files(kept));
    const { contextId } = task;
    expect(await there.hub.caseView(priya, contextId)).toEqual(
      await scene.hub.caseView(priya, contextId),
    );
    expect(await there.hub.loadTask({ principal: priya }, task.id)).toMatchObject({
      version: done.version,
    });
    const { seq, hash } = await there.state();
    expect({ seq, hash }).toEqual({ seq: kept.moment.seq, hash: kept.moment.hash });
    const again = await backUp(there);
    expect(again.moment.incarnation).not.toBe(kept.moment.incarnation);
    expect((await backUp(scene)).moment.incarnation).toBe(kept.moment.incarnation);
  });

  test('rows hold nothing that people wrote, and no key that opens it', async () => {
    const scene = await Scene.open(open);
    await scene.task(priya, { text: secret }, { text: secret });
    const { rows, ledger } = await backUp(scene);
    expect(rows).not.toContain(secret);
    expect(rows).not.toContain('"case-key"');
    expect(ledger).toContain('"case-key"');
  });

  test('what was erased or taken back since stays so, given the newer ledger', async () => {
    const scene = await Scene.open(open);
    const task = await scene.task(priya, { text: secret }, { text: secret });
    const other = await scene.task(priya, {}, { text: 'kept' });
    const made = await scene.hub.createKey(boss, { principal: bob });
    const { contextId } = other;
    const grant = await scene.hub.grant(priya, contextId, { grantee: 'bob', operations: ['get'] });
    const { summary } = await scene.hub.caseView(priya, task.contextId);
    const master = scene.hub.master(desk);
    const { activity } = await master.locate(other.id);
    const content = { activity, resource: master.newId('resource'), mediaType: 'text/plain' };
    const { uri } = await master.putContent({ ...content, bytes: Buffer.from('terms') });
    const token = await master.readToken({ uris: [uri], audience: 'checker', seconds: 60 });
    const gone = await master.locate(task.id);
    await master.putContent({
      ...content,
      activity: gone.activity,
      resource: master.newId('resource'),
      bytes: Buffer.from('erased'),
    });
    const kept = await backUp(scene);
    await scene.hub.eraseCase(priya, task.contextId);
    await scene.hub.revokeKey(boss, made.id);
    await scene.hub.revokeGrant(priya, grant.id);
    await scene.hub.content.revokeTokens(desk, { token });
    const newer = await backUp(scene);

    const old = await restored(await open(), files(kept));
    expect((await old.hub.quotaReport(boss, desk.id)).used.principal).toMatchObject({ bytes: 11 });
    expect((await old.hub.caseView(priya, task.contextId)).summary.objective).toBe(secret);
    expect(await old.hub.authenticate(`Bearer ${made.key}`)).toMatchObject({ id: 'bob' });

    expect(await old.hub.agent(checker).getContent(uri, token)).toBeDefined();

    const there = await restored(await open(), files(kept, newer));
    expect(await there.hub.quotaReport(boss, desk.id)).toMatchObject({
      used: { tenant: { bytes: 5 }, principal: { bytes: 5 } },
    });
    expect(await refused(there.hub.agent(checker).getContent(uri, token))).toBeDefined();
    expect(await refused(there.hub.caseView(priya, task.contextId))).toBeDefined();
    const shell = await there.hub.caseView(boss, summary.activity);
    expect(shell.summary.objective).toBeUndefined();
    expect(JSON.stringify(await backUp(there))).not.toContain(secret);
    expect(await refused(there.hub.authenticate(`Bearer ${made.key}`))).toMatchObject({
      code: 'unauthenticated',
    });
    expect(await refused(there.hub.caseView(bob, contextId))).toMatchObject({ code: 'not-found' });
    expect((await there.hub.grants(priya, contextId))[0]).toMatchObject({ revoked: true });
    expect((await there.hub.caseView(priya, contextId)).summary.objective).toBe('kept');
  });

  test('sessions of browsers end, and no message waits for a process that is gone', async () => {
    const scene = await Scene.open(open);
    const credential = `Bearer ${await scene.hub.bootstrapKey(boss)}`;
    const { code } = await scene.hub.pageCode(credential);
    const session = await scene.hub.openPageSession(code);
    await scene.admit(priya, { messageId: 'm-1', text: 'x' });
    const there = await restored(await open(), files(await backUp(scene)));
    expect(await scene.hub.pageSession(session)).toMatchObject({ id: 'boss' });
    expect(await there.hub.pageSession(session)).toBeUndefined();
    expect(await there.hub.authenticate(credential)).toMatchObject({ id: 'boss' });
    const again = await there.admit(priya, { messageId: 'm-1', text: 'x' });
    expect(again).toMatchObject({ kind: 'new' });
  });

  test('a store that is not empty is not overwritten', async () => {
    const scene = await Scene.open(open);
    await scene.task(priya, {}, { text: 'here' });
    const kept = await backUp(scene);
    const there = await Scene.open(open);
    const call = fillFrom(there.store, domainKey, files(kept));
    expect(await refused(call)).toMatchObject({ code: 'conflict' });
  });

  test('one that broke off opens for no hub, goes on where it was, and then does', async () => {
    const scene = await Scene.open(open);
    for (let i = 0; i < 40; i++) await scene.task(priya, {}, { text: `case ${i}` });
    const kept = await backUp(scene);
    const whole = files(kept);
    const store = await open();
    const broken: BackupFiles = {
      ...whole,
      async *rows() {
        let left = 500;
        for await (const line of whole.rows()) {
          if (left-- === 0) throw new Error('killed');
          yield line;
        }
      },
    };
    await expect(fillFrom(store, domainKey, broken)).rejects.toThrow('killed');
    const opening = Hub.open({ store, domainKey, origin: 'https://hub.example' });
    expect(await refused(opening)).toMatchObject({ code: 'damaged' });
    const others = fillFrom(store, domainKey, { ...whole, id: 'two' });
    expect(await refused(others)).toMatchObject({ code: 'conflict' });
    const there = await restored(store, whole);
    expect((await there.hub.cases(priya, { pageSize: 100 })).cases).toHaveLength(40);
    expect(await there.state()).toMatchObject({ hash: kept.moment.hash });
  });

  test('a changed or missing row of the log is found', async () => {
    const scene = await Scene.open(open);
    await scene.task(priya, {}, { text: 'here' });
    const kept = await backUp(scene);
    for (const rows of [
      kept.rows.replace('"basis":"reported"', '"basis":"observed"'),
      kept.rows.split('\n').toSpliced(1, 1).join('\n'),
      'not a row\n',
    ]) {
      const call = fillFrom(await open(), domainKey, files({ ...kept, rows }));
      expect(await refused(call)).toMatchObject({ code: 'damaged' });
    }
  });

  test('it is of one moment, whatever is written meanwhile', async () => {
    const scene = await Scene.open(open);
    for (let i = 0; i < 5; i++) await scene.task(priya, {}, { text: `case ${i}` });
    const writing = Promise.all(
      Array.from({ length: 10 }, (_each, i) => scene.task(bob, {}, { text: `more ${i}` })),
    );
    const kept = await backUp(scene);
    await writing;
    const there = await restored(await open(), files(kept));
    expect((await there.hub.cases(priya, {})).cases).toHaveLength(5);
    expect(await there.state()).toMatchObject({ seq: kept.moment.seq, hash: kept.moment.hash });
  });
});

describe('a backup goes from one database to another', { timeout: 120_000 }, () => {
  const pairs = stores.flatMap(([from, openFrom]) =>
    stores.filter(([to]) => to !== from).map(([to, openTo]) => ({ from, openFrom, to, openTo })),
  );
  test.each(pairs)('from $from to $to', async ({ openFrom, openTo }) => {
    const scene = await Scene.open(openFrom);
    const task = await scene.task(priya, { text: secret }, { text: secret });
    const there = await restored(await openTo(), files(await backUp(scene)));
    expect(await there.hub.caseView(priya, task.contextId)).toEqual(
      await scene.hub.caseView(priya, task.contextId),
    );
    expect(await there.hub.archive.verify()).toMatchObject({ findings: [], compared: true });
  });
});
