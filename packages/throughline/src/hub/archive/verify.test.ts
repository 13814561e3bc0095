import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openMemoryContent } from '../../content/index.ts';
import { openMemoryStore, openSqliteStore } from '../../store/index.ts';
import { bob, boss, checker, desk, priya, Scene, stores } from '../conformance.ts';

const folder = mkdtempSync(join(tmpdir(), 'verify-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

/** Several cases, with an erased one, labels, an end that breaks a rule, and a Participant forgotten. */
async function lived(scene: Scene): Promise<string> {
  const first = await scene.task(priya, { text: 'first' }, { text: 'my card' });
  await scene.move(first, 'completed');
  await scene.hub.labelCase(priya, first.contextId, { label: { name: 'urgency', value: 'high' } });
  await scene.hub.closeCase(priya, first.contextId);
  await scene.hub.reopenCase(priya, first.contextId);
  const second = await scene.task(priya, { contextId: first.contextId }, { text: 'again' });
  await scene.move(second, 'awaiting', { awaiting: 'input' });
  // Told of by another first, and by its name only later.
  await scene.hub.master(desk).participant({ kind: 'agent', principal: checker.id });
  const gone = await scene.task(bob, { agent: checker }, { text: 'to be erased' });
  await scene.move(gone, 'completed');
  await scene.hub.labelCase(bob, gone.contextId, { label: { name: 'secret', value: 'yes' } });
  await scene.hub.eraseCase(bob, gone.contextId);
  await scene.task(bob, {}, { text: 'met again' });
  await scene.hub.bootstrapKey(boss);
  return first.contextId;
}

describe.each(stores)('verify on %s', { timeout: 120_000 }, (_, open) => {
  test('a hub in order has nothing to be found, with erased cases in it too', async () => {
    const scene = await Scene.open(open);
    await lived(scene);
    const before = await scene.state();
    const found = await scene.hub.archive.verify();
    expect(found).toMatchObject({ findings: [], compared: true, entries: before.seq });
    expect(await scene.state()).toEqual(before);
  });

  test('an object that the log says otherwise of is named', async () => {
    const scene = await Scene.open(open);
    await lived(scene);
    const { object, edited } = await scene.store.write(async (writer) => {
      const [entry] = (await writer.log({ after: 0, limit: 100 })).filter(({ about }) =>
        about.startsWith('tsk_'),
      );
      const [task] = await writer.objects([entry?.about ?? '']);
      if (task === undefined) throw new Error('no task');
      const shape = JSON.parse(JSON.stringify(task.shape).replace('"completed"', '"failed"'));
      await writer.putObject({ ...task, shape });
      return { object: task, edited: shape };
    });
    expect(edited).not.toEqual(object.shape);
    const { findings } = await scene.hub.archive.verify();
    expect(findings).toEqual([{ id: object.id, problem: 'is not what the log makes of it' }]);
  });

  test('an object that the log does not tell of is named', async () => {
    const scene = await Scene.open(open);
    await lived(scene);
    await scene.store.write((writer) =>
      writer.putObject({ id: 'tsk_extra', kind: 'task', shape: {}, seq: 1 }),
    );
    const { findings } = await scene.hub.archive.verify();
    expect(findings).toEqual([{ id: 'tsk_extra', problem: 'is nowhere in the log' }]);
  });
});

describe('what is planted in a file', () => {
  const planted: readonly (readonly [string, sql: string, seq: number | undefined])[] = [
    [
      'a changed shape',
      `update log set shape = replace(shape, 'reported', 'observed') where seq = 4`,
      4,
    ],
    ['a removed entry', 'delete from log where seq = 5', 5],
    [
      'two entries swapped',
      'update log set seq = -6 where seq = 6; update log set seq = 6 where seq = 7; update log set seq = 7 where seq = -6',
      6,
    ],
    [
      'a changed sealed text',
      `update slots set bytes = cast(substr(bytes, 1, 20) || x'00' || substr(bytes, 22) as blob)
       where n = (select min(sealed) from log where seq > 2)`,
      undefined,
    ],
    [
      'a sealed text taken away',
      'update log set sealed = null where seq = (select min(seq) from log where sealed is not null and activity is not null)',
      undefined,
    ],
    ['the last entry cut off', 'delete from log where seq = (select max(seq) from log)', undefined],
  ];
  test.each(planted)('%s is found and named', async (_, sql, seq) => {
    const path = join(folder, `${files++}.db`);
    const scene = await Scene.open(() => openSqliteStore({ path }));
    await lived(scene);
    expect((await scene.hub.archive.verify()).findings).toEqual([]);
    const db = new Database(path);
    db.exec(sql);
    db.close();
    const { findings } = await scene.hub.archive.verify();
    expect(findings.length).toBeGreaterThan(0);
    if (seq !== undefined) expect(findings[0]).toMatchObject({ seq });
    else expect(findings[0]?.problem).toMatch(/not open|commits to|ahead of the log/);
  });

  test('a record whose sealed part is another’s is found', async () => {
    const path = join(folder, `${files++}.db`);
    const scene = await Scene.open(() => openSqliteStore({ path }));
    await lived(scene);
    const db = new Database(path);
    const kind = `(select n from names where id = 'task')`;
    const [a, b] = db.prepare(`select n, sealed from records where kind = ${kind}`).all();
    expect(a).toBeDefined();
    expect(b).toBeDefined();
    db.exec(`update records set sealed = (select max(sealed) from records where kind = ${kind})
             where kind = ${kind}`);
    db.close();
    const { findings } = await scene.hub.archive.verify();
    expect(findings[0]?.id).toMatch(/^task\//);
  });
});

test('offloaded bytes that are gone or are others’ are found', async () => {
  const driver = openMemoryContent();
  const scene = await Scene.open(() => openMemoryStore(), { content: { driver } });
  const task = await scene.task(priya, {}, { text: 'with content' });
  const master = scene.hub.master(desk);
  const { activity } = await master.locate(task.id);
  const put = (text: string) =>
    master.putContent({
      activity,
      resource: master.newId('resource'),
      mediaType: 'text/plain',
      bytes: Buffer.from(text),
    });
  await put('the first');
  expect((await scene.hub.archive.verify()).findings).toEqual([]);
  const [id = ''] = await driver.list('', 10);
  await driver.delete([id]);
  expect(await scene.hub.archive.verify()).toMatchObject({
    // The graph does not rest on them.
    compared: true,
    findings: [{ id: expect.stringMatching(/^content\/res_/), problem: 'its bytes are missing' }],
  });
  await driver.put(id, new Uint8Array(64));
  const [found] = (await scene.hub.archive.verify()).findings;
  expect(found?.problem).toContain('does not open under its key');
});
