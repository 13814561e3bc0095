import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifyChain } from '../../store/index.ts';
import { bob, boss, desk, mallory, priya, refused, Scene, stores } from '../conformance.ts';
import { exportVersion } from './lines.ts';

const bytesOf = async (stream: Promise<AsyncIterable<Uint8Array>>): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const part of await stream) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
};

/** As a file is read: in pieces that end anywhere. */
const fileOf = (text: string) =>
  async function* (): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text);
    for (let i = 0; i < bytes.length; i += 1_000) yield bytes.subarray(i, i + 1_000);
  };

const secret = 'my card ends in 4711';
const offloaded = 'the terms that were offloaded '.repeat(100);

/** Two cases of priya, one of bob, with a second task, a grant and a state that breaks a rule. */
async function lived(scene: Scene): Promise<{ contextId: string; activity: string }> {
  const first = await scene.task(priya, { text: secret }, { text: secret });
  await scene.move(first, 'completed', { body: { history: [secret, 'done'] } });
  scene.pass(1_000);
  const master = scene.hub.master(desk);
  const { activity: caseId, task: run } = await master.locate(first.id);
  const used = [{ model: 'planner', inputTokens: 7, outputTokens: 5 }];
  const kept = { id: run, activity: caseId, done: true, state: {}, usage: used };
  await master.saveRun({ ...kept, expected: 0 });
  const resource = master.newId('resource');
  const content = { activity: caseId, resource, mediaType: 'text/plain' };
  await master.putContent({ ...content, bytes: Buffer.from(offloaded) });
  await scene.task(priya, { contextId: first.contextId }, { text: `again ${secret}` });
  const { contextId } = first;
  await scene.hub.labelCase(priya, contextId, { label: { name: 'urgency', value: 'high' } });
  await scene.task(priya, {}, { text: 'something else' });
  await scene.task(bob, {}, { text: 'bob asks' });
  const agent = { ...desk, tenant: mallory.tenant };
  await scene.task(mallory, { agent }, { text: 'another tenant' });
  const { summary } = await scene.hub.caseView(priya, contextId);
  return { contextId, activity: summary.activity };
}

/** Lines of a file with some changed and its end told anew. */
function altered(text: string, change: (lines: string[]) => string[]): string {
  const lines = change(text.trimEnd().split('\n').slice(0, -1));
  const body = lines.map((line) => `${line}\n`).join('');
  const digest = createHash('sha256').update(body).digest('hex');
  return `${body}${JSON.stringify({ kind: 'end', lines: lines.length, digest })}\n`;
}

const other = { domainKey: new Uint8Array(32).fill(9), origin: 'https://other.example' };

describe.each(stores)('export and import on %s', { timeout: 120_000 }, (_, open) => {
  test('a case goes into an empty hub and comes out again byte for byte', async () => {
    const scene = await Scene.open(open);
    const { contextId, activity } = await lived(scene);
    const file = await bytesOf(scene.hub.archive.exporting.case(priya, contextId));
    expect(file).toContain(secret);
    const there = await Scene.open(open, other);
    const done = await there.hub.archive.importing.import(fileOf(file));
    expect(done).toMatchObject({ cases: 1, known: 0 });
    expect(await bytesOf(there.hub.archive.exporting.case(priya, contextId))).toBe(file);
    expect(await bytesOf(there.hub.archive.exporting.case(priya, activity))).toBe(file);
    expect(await verifyChain(there.store)).not.toHaveProperty('broken');
  });

  test('all cases of a tenant do, and those of others are not among them', async () => {
    const scene = await Scene.open(open);
    await lived(scene);
    const file = await bytesOf(scene.hub.archive.exporting.tenant(boss));
    expect(file).toContain('bob asks');
    expect(file).not.toContain('another tenant');
    const there = await Scene.open(open, other);
    expect(await there.hub.archive.importing.import(fileOf(file))).toMatchObject({ cases: 3 });
    expect(await bytesOf(there.hub.archive.exporting.tenant(boss))).toBe(file);
  });

  test('what was imported is the same case to its owner, and goes on', async () => {
    const scene = await Scene.open(open);
    const { contextId } = await lived(scene);
    const before = await scene.hub.caseView(priya, contextId);
    const there = await Scene.open(open, other);
    const file = await bytesOf(scene.hub.archive.exporting.case(priya, contextId));
    await there.hub.archive.importing.import(fileOf(file));
    const after = await there.hub.caseView(priya, contextId);
    expect({ ...after, summary: 0, conflicts: 0 }).toEqual({ ...before, summary: 0, conflicts: 0 });
    expect(after.runs).toMatchObject([{ usage: [{ model: 'planner', inputTokens: 7 }] }]);
    expect(after.summary.objective).toBe(before.summary.objective);
    const found = await there.hub.cases(priya, { label: 'urgency=high' });
    expect(found.cases.map(({ activity }) => activity)).toEqual([before.summary.activity]);
    const { tasks } = await there.hub.listTasks({ principal: priya }, { contextId, pageSize: 10 });
    expect(tasks).toHaveLength(2);
    // Ids of the two scenes are counted each by itself.
    for (let i = 0; i < 20; i++) there.next('');
    await there.task(priya, { contextId }, { text: 'one more' });
    expect((await there.hub.caseView(priya, contextId)).tasks).toHaveLength(3);
    expect(await refused(there.hub.caseView(mallory, contextId))).toMatchObject({
      code: 'not-found',
    });
  });

  test('offloaded content goes along for operators, and can be read by whoever put it', async () => {
    const scene = await Scene.open(open);
    const { contextId, activity } = await lived(scene);
    const { exporting } = scene.hub.archive;
    const offloadedNow = Buffer.from(offloaded).toString('base64');
    expect(await bytesOf(exporting.case(priya, contextId))).not.toContain(offloadedNow);
    const file = await bytesOf(exporting.case(boss, contextId));
    expect(file).toContain(offloadedNow);
    const there = await Scene.open(open, other);
    await there.hub.archive.importing.import(fileOf(file));
    expect(await bytesOf(there.hub.archive.exporting.case(boss, contextId))).toBe(file);
    const [, resource = ''] = /"resource":"(res_\w+)"/.exec(file) ?? [];
    const read = await there.hub.master(desk).getContent(`${other.origin}/content/${resource}`);
    expect(Buffer.from(read.bytes).toString()).toBe(offloaded);
    expect(await there.hub.archive.verify()).toMatchObject({ findings: [], compared: true });
    await there.hub.eraseCase(boss, contextId);
    expect(await bytesOf(there.hub.archive.exporting.case(boss, activity))).not.toContain(
      offloadedNow,
    );
  });

  test('one made after an erasure holds nothing of it but its shape, and is taken in so', async () => {
    const scene = await Scene.open(open);
    const { contextId, activity } = await lived(scene);
    await scene.hub.eraseCase(priya, contextId);
    const file = await bytesOf(scene.hub.archive.exporting.tenant(boss));
    expect(file).not.toContain(secret);
    expect(file).not.toContain('urgency');
    expect(file).not.toContain(Buffer.from(offloaded).toString('base64'));
    expect(file).toContain(activity);
    expect(file).toContain('something else');
    const there = await Scene.open(open, other);
    await there.hub.archive.importing.import(fileOf(file));
    expect(await bytesOf(there.hub.archive.exporting.tenant(boss))).toBe(file);
    const { tasks, activities } = await there.hub.caseView(boss, activity);
    const here = await scene.hub.caseView(boss, activity);
    expect({ tasks, activities }).toEqual({ tasks: here.tasks, activities: here.activities });
  });

  test('the same file again changes nothing; a case that went on elsewhere is a conflict', async () => {
    const scene = await Scene.open(open);
    const { contextId } = await lived(scene);
    const file = await bytesOf(scene.hub.archive.exporting.case(priya, contextId));
    const there = await Scene.open(open, other);
    await there.hub.archive.importing.import(fileOf(file));
    const { hash } = await there.state();
    const again = await there.hub.archive.importing.import(fileOf(file));
    expect(again).toMatchObject({ cases: 1, known: 1 });
    expect(await there.state()).toMatchObject({ hash });
    await scene.task(priya, { contextId }, { text: 'went on' });
    const later = await bytesOf(scene.hub.archive.exporting.case(priya, contextId));
    const call = there.hub.archive.importing.import(fileOf(later));
    expect(await refused(call)).toMatchObject({ code: 'conflict' });
    expect(await there.state()).toMatchObject({ hash });
  });

  test('a file is taken in whole where it is more than a quota lets anybody put', async () => {
    const scene = await Scene.open(open);
    await lived(scene);
    const file = await bytesOf(scene.hub.archive.exporting.tenant(boss));
    const there = await Scene.open(open, other);
    await there.hub.setQuotas(boss, { tenant: { bytes: 10 }, principal: {} });
    await there.hub.archive.importing.import(fileOf(file));
    expect(await bytesOf(there.hub.archive.exporting.tenant(boss))).toBe(file);
    expect((await there.hub.quotaReport(boss)).used.tenant?.bytes).toBe(offloaded.length);
  });

  test('an entry that is there twice is taken in once', async () => {
    const scene = await Scene.open(open);
    await lived(scene);
    const file = await bytesOf(scene.hub.archive.exporting.tenant(boss));
    const twice = altered(file, (lines) => lines.toSpliced(5, 0, lines[4] ?? ''));
    const there = await Scene.open(open, other);
    await there.hub.archive.importing.import(fileOf(twice));
    expect(await bytesOf(there.hub.archive.exporting.tenant(boss))).toBe(file);
  });

  test('an older file does not bring back what was erased since', async () => {
    const scene = await Scene.open(open);
    const { contextId } = await lived(scene);
    const file = await bytesOf(scene.hub.archive.exporting.case(priya, contextId));
    await scene.hub.eraseCase(priya, contextId);
    await scene.hub.archive.importing.import(fileOf(file));
    expect(await bytesOf(scene.hub.archive.exporting.tenant(boss))).not.toContain(secret);
  });

  test('whoever neither owns a case nor operates its tenant gets no export', async () => {
    const scene = await Scene.open(open);
    const { contextId } = await lived(scene);
    const { exporting } = scene.hub.archive;
    for (const by of [bob, mallory]) {
      expect(await refused(exporting.case(by, contextId))).toMatchObject({ code: 'not-found' });
      expect(await refused(exporting.tenant(by))).toMatchObject({ code: 'not-found' });
    }
  });

  test('it holds no key, no token and no digest of one', async () => {
    const scene = await Scene.open(open);
    const { contextId } = await lived(scene);
    const key = await scene.hub.bootstrapKey(priya);
    const file = await bytesOf(scene.hub.archive.exporting.tenant(boss));
    expect(file).toContain(contextId);
    expect(file).not.toContain('tlk_');
    expect(file).not.toContain(createHash('sha256').update(key).digest('hex'));
    expect(file).not.toContain(Buffer.from(new Uint8Array(32).fill(7)).toString('base64url'));
  });

  test('a shape-only export holds nothing that people wrote, and is not taken in', async () => {
    const scene = await Scene.open(open);
    const { contextId, activity } = await lived(scene);
    const { exporting, importing } = scene.hub.archive;
    const file = await bytesOf(exporting.case(priya, contextId, { shapeOnly: true }));
    expect(file).toContain(activity);
    for (const word of [secret, 'urgency', 'priya']) expect(file).not.toContain(word);
    expect(await refused(importing.import(fileOf(file)))).toMatchObject({ code: 'unsupported' });
  });
});

const find = (lines: readonly string[], kind: string): number =>
  lines.findIndex((line) => line.includes(`"kind":"${kind}"`));

function swapFirst(from: string, to: string) {
  return (lines: string[]): string[] => lines.with(0, lines[0]?.replace(from, to) ?? '');
}

const swap = (kind: string, from: string | RegExp, to: string) => (lines: string[]) =>
  lines.with(find(lines, kind), lines[find(lines, kind)]?.replace(from, to) ?? '');

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(1_048_576, 'x');
}

describe('a file that is not as it should be', () => {
  const open = stores[0]?.[1] ?? (() => Promise.reject(new Error('no store')));

  type Bad = [string, change: (text: string) => string, code: string, at: number | undefined];
  const bad: Bad[] = [
    ['an empty one', () => '', 'invalid', 1],
    ['one cut off', (text) => text.split('\n').slice(0, -3).join('\n'), 'invalid', undefined],
    [
      'one without its end',
      (text) => `${text.split('\n').slice(0, -2).join('\n')}\n`,
      'invalid',
      undefined,
    ],
    ['one with a changed byte', (text) => text.replace('4711', '4712'), 'invalid', undefined],
    ['something behind the end', (text) => `${text}{}\n`, 'invalid', undefined],
    [
      'a newer version',
      (text) =>
        altered(text, swapFirst(`"version":${exportVersion}`, `"version":${exportVersion + 1}`)),
      'newer-version',
      1,
    ],
    ['another format', (text) => altered(text, swapFirst('-export', '-photo')), 'invalid', 1],
    ['no JSON', (text) => altered(text, (lines) => lines.with(2, '{"kind":')), 'invalid', 3],
    [
      'a line too deep',
      (text) => altered(text, (lines) => lines.with(2, '['.repeat(50_000))),
      'too-large',
      3,
    ],
    [
      'an unknown kind',
      (text) => altered(text, (lines) => lines.with(2, '{"kind":"key"}')),
      'invalid',
      3,
    ],
    [
      'a changed shape',
      (text) => altered(text, swap('entry', /"source":"[^"]+"/, '"source":"hub"')),
      'invalid',
      undefined,
    ],
    [
      'changed content',
      (text) => altered(text, swap('entry', /"name":"[^"]+"/, '"name":"eve"')),
      'invalid',
      undefined,
    ],
    [
      'content without a salt',
      (text) => altered(text, swap('entry', /,"salt":"[^"]+"/, '')),
      'invalid',
      undefined,
    ],
    [
      'a task that no entry tells of',
      (text) => altered(text, swap('task', /"task":"tsk_./, '"task":"tsk_z')),
      'invalid',
      undefined,
    ],
    [
      'entries of a case that is not there',
      (text) => altered(text, (lines) => lines.filter((line) => !line.includes('"kind":"case"'))),
      'invalid',
      undefined,
    ],
    [
      'content with other bytes',
      (text) => altered(text, swap('content', /"bytes":"..../, '"bytes":"AAAA')),
      'invalid',
      undefined,
    ],
    [
      'a field too many',
      (text) => altered(text, swap('case', '{', '{"admin":true,')),
      'invalid',
      undefined,
    ],
  ];

  test('one of an older version, which has less in it, is taken in', async () => {
    const scene = await Scene.open(open);
    const { contextId } = await lived(scene);
    const file = await bytesOf(scene.hub.archive.exporting.case(boss, contextId));
    const older = altered(file, swapFirst(`"version":${exportVersion}`, '"version":1'));
    expect(older).not.toBe(file);
    const there = await Scene.open(open, other);
    expect(await there.hub.archive.importing.import(fileOf(older))).toMatchObject({ cases: 1 });
  });

  test.each(bad)('%s is refused by name, and nothing is written', async (_, change, code, at) => {
    const scene = await Scene.open(open);
    const { contextId } = await lived(scene);
    const file = await bytesOf(scene.hub.archive.exporting.case(boss, contextId));
    const there = await Scene.open(open, other);
    const before = await there.state();
    const changed = change(file);
    expect(changed).not.toBe(file);
    const error = await refused(there.hub.archive.importing.import(fileOf(changed)));
    expect(error).toMatchObject({ code });
    expect(error.message).toMatch(at === undefined ? /^line \d+: / : new RegExp(`^line ${at}: `));
    expect(await there.state()).toEqual(before);
  });

  test('a line without an end is given up before it fills the memory', async () => {
    const there = await Scene.open(open, other);
    expect(await refused(there.hub.archive.importing.import(endless))).toMatchObject({
      code: 'too-large',
      details: { line: 1 },
    });
  });
});
