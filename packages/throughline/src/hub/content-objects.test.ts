import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeContent } from '../content/conformance.ts';
import type { ContentDriver } from '../content/content.ts';
import { openFileContent, openMemoryContent } from '../content/index.ts';
import { startS3, type S3Server } from '../content/s3/conformance.ts';
import { openS3Content } from '../content/s3/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { boss, checker, desk, priya, refusal, Scene } from './conformance.ts';
import { ContentInStore } from './content-in-store.ts';
import { Vault } from './vault.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

describeContent('content in a store', async () => new ContentInStore(await openMemoryStore()));

/** A case with a driver whose calls can be made to fail or to be interrupted by something. */
class Story {
  readonly driver: ContentDriver;
  before: (call: 'put' | 'get' | 'delete') => Promise<void> | void = () => undefined;
  readonly scene: Scene;
  readonly activity: string;

  static async begin(options: { region?: string; policy?: 'any' | 'same' } = {}): Promise<Story> {
    const made: { story?: Story } = {};
    const plain = openMemoryContent();
    const through =
      (call: 'put' | 'get' | 'delete') =>
      async <T>(work: () => Promise<T>): Promise<T> => {
        await made.story?.before(call);
        return work();
      };
    const driver: ContentDriver = {
      put: (id, sealed) => through('put')(() => plain.put(id, sealed)),
      get: (id) => through('get')(() => plain.get(id)),
      delete: (ids) => through('delete')(() => plain.delete(ids)),
      list: (after, limit) => plain.list(after, limit),
      close: () => plain.close(),
    };
    const { region: here, policy } = options;
    const content = { driver, regions: { here, policy } };
    const scene = await Scene.open(openMemoryStore, { content });
    const task = await scene.task(priya);
    const { activity } = await scene.hub.master(desk).locate(task.id);
    made.story = new Story(scene, activity, driver);
    return made.story;
  }

  private constructor(scene: Scene, activity: string, driver: ContentDriver) {
    this.scene = scene;
    this.activity = activity;
    this.driver = driver;
  }

  put(text: string, more: { keepSeconds?: number; region?: string } = {}) {
    const master = this.scene.hub.master(desk);
    return master.putContent({
      activity: this.activity,
      resource: master.newId('resource'),
      mediaType: 'text/plain',
      bytes: bytes(text),
      ...more,
    });
  }

  objects(): Promise<readonly string[]> {
    return this.driver.list('', 100);
  }
}

describe('the bytes of offloaded content', () => {
  it('are sealed where they lie, each under a key of its own', async () => {
    const story = await Story.begin();
    await story.put('canary');
    await story.put('canary', { region: 'eu' });
    const [one = '', two = ''] = await story.objects();
    const [first, second] = [await story.driver.get(one), await story.driver.get(two)];
    for (const sealed of [first, second]) {
      expect(Buffer.from(sealed ?? []).toString()).not.toContain('canary');
    }
    // One in the place of the other opens under neither key.
    await story.driver.delete([one]);
    await story.driver.put(one, second ?? new Uint8Array());
    const refs = [await story.put('canary'), await story.put('canary', { region: 'eu' })];
    const reads = refs.map(({ uri }) => story.scene.hub.master(desk).getContent(uri));
    const outcomes = await Promise.allSettled(reads);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'damaged' },
    });
  });

  it('are there before anything names them: a put that fails leaves no reference', async () => {
    const story = await Story.begin();
    story.before = () => Promise.reject(new Error('the disk is full'));
    await expect(story.put('terms')).rejects.toThrow('the disk is full');
    story.before = () => undefined;
    const ref = await story.put('terms');
    expect(await story.objects()).toHaveLength(1);
    const { bytes: read } = await story.scene.hub.master(desk).getContent(ref.uri);
    expect(Buffer.from(read).toString()).toBe('terms');
  });

  it('are swept where their case was erased, and swept, while they were put', async () => {
    const story = await Story.begin();
    story.before = async (call) => {
      if (call !== 'put') return;
      await story.scene.hub.eraseCase(priya, story.activity);
      await story.scene.hub.sweep();
    };
    expect(await refusal(story.put('late'))).toBe('not-found');
    expect(await story.objects()).toHaveLength(1);
    await story.scene.hub.sweep();
    expect(await story.objects()).toEqual([]);
  });

  it.each([false, true])(
    'are swept where they come after their put failed (case erased: %s)',
    async (erased) => {
      const story = await Story.begin();
      story.before = async (call) => {
        if (call !== 'put') return;
        if (erased) {
          await story.scene.hub.eraseCase(priya, story.activity);
          await story.scene.hub.sweep();
        }
        throw new Error('no answer in time');
      };
      await expect(story.put('late')).rejects.toThrow('no answer in time');
      story.before = () => undefined;
      const query = { kind: 'content-object', index: { state: 'coming' }, limit: 2 };
      const [record] = await story.scene.store.read((reader) => reader.records(query));
      await story.scene.hub.sweep();
      await story.driver.put(String(record?.key), bytes('late'));
      story.scene.pass(3_600_001);
      await story.scene.hub.sweep();
      expect(await story.objects()).toEqual([]);
    },
  );

  it('are swept when whoever put them died before anything named them', async () => {
    const story = await Story.begin();
    const key = 'a'.repeat(32);
    await story.driver.put(key, bytes('left over'));
    await story.scene.store.write(async (writer) => {
      const index = { state: 'coming', activity: story.activity };
      const expiresAt = story.scene.now.getTime() + 3_600_000;
      const record = { kind: 'content-object', key, sort: 0, index, shape: { state: 'coming' } };
      await writer.putRecord({ ...record, expiresAt });
    });
    await story.scene.hub.sweep();
    expect(await story.objects()).toEqual([key]);
    story.scene.pass(3_600_001);
    const { contents } = await story.scene.hub.sweep();
    expect(contents).toBe(1);
    expect(await story.objects()).toEqual([]);
  });

  it('that took too long to come are not named', async () => {
    const story = await Story.begin();
    story.before = async (call) => {
      if (call !== 'put') return;
      story.scene.pass(3_600_001);
      await story.scene.hub.sweep();
    };
    await expect(story.put('terms')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('of one put by two at once are there once', async () => {
    const story = await Story.begin();
    const [one, two] = await Promise.all([story.put('same'), story.put('same')]);
    expect(one).toEqual(two);
    await story.scene.hub.sweep();
    expect(await story.objects()).toHaveLength(1);
  });

  it('go with their case, however many they are', async () => {
    const story = await Story.begin();
    for (let i = 0; i < 501; i++) await story.put(`piece ${i}`);
    await story.scene.hub.eraseCase(priya, story.activity);
    for (let pass = 0; pass < 2; pass++) await story.scene.hub.sweep();
    expect(await story.objects()).toEqual([]);
    const { used } = await story.scene.hub.quotaReport({ ...boss, tenant: desk.tenant }, desk.id);
    expect(used).toMatchObject({ tenant: { bytes: 0 }, principal: { bytes: 0 } });
  });

  it('go with their case, at once, or later when the place is away', async () => {
    const story = await Story.begin();
    const ref = await story.put('terms');
    const [id = ''] = await story.objects();
    const sealed = await story.driver.get(id);
    story.before = (call) => {
      if (call === 'delete') throw new Error('away');
    };
    await story.scene.hub.eraseCase(boss, story.activity);
    expect(await refusal(story.scene.hub.master(desk).getContent(ref.uri))).toBe('not-found');
    expect(await story.objects()).toEqual([id]);
    expect(Buffer.from(sealed ?? []).toString()).not.toContain('terms');
    story.before = () => undefined;
    expect(await story.scene.hub.sweep()).toMatchObject({ contents: 1 });
    expect(await story.objects()).toEqual([]);
    const again = await Story.begin();
    await again.put('terms');
    await again.scene.hub.eraseCase(boss, again.activity);
    expect(await again.objects()).toEqual([]);
  });

  it('are not damaged, but gone, when their case is erased while they are read', async () => {
    const story = await Story.begin();
    const ref = await story.put('terms');
    story.before = async (call) => {
      if (call !== 'get') return;
      story.before = () => undefined;
      await story.scene.hub.eraseCase(boss, story.activity);
    };
    expect(await refusal(story.scene.hub.master(desk).getContent(ref.uri))).toBe('not-found');
  });

  it('are damaged when they are missing', async () => {
    const story = await Story.begin();
    const ref = await story.put('terms');
    await story.driver.delete(await story.objects());
    expect(await refusal(story.scene.hub.master(desk).getContent(ref.uri))).toBe('damaged');
  });
});

describe('content that is kept for a time', () => {
  it('is gone then for those it was open to, and swept, and its bytes are given back', async () => {
    const story = await Story.begin();
    const { hub } = story.scene;
    const ref = await story.put('terms', { keepSeconds: 60 });
    const token = await hub
      .master(desk)
      .readToken({ uris: [ref.uri], audience: checker.id, seconds: 600 });
    const used = async () => (await hub.quotaReport(boss)).used.tenant?.bytes;
    expect(await used()).toBe(5);
    story.scene.pass(60_000);
    for (const sweep of [false, true]) {
      if (sweep) expect(await hub.sweep()).toMatchObject({ contents: 1 });
      expect(await refusal(hub.master(desk).getContent(ref.uri))).toBe('gone');
      expect(await refusal(hub.agent(checker).getContent(ref.uri, token))).toBe('gone');
      expect(await refusal(hub.master(priya).getContent(ref.uri))).toBe('not-found');
    }
    expect(await story.objects()).toEqual([]);
    expect(await used()).toBe(0);
    const again = await story.put('terms', { keepSeconds: 60 });
    expect(again.resource).not.toBe(ref.resource);
  });
});

describe('regions of content', () => {
  it('are a label where nothing is said of them', async () => {
    const story = await Story.begin({ region: 'eu' });
    const ref = await story.put('terms', { region: 'us' });
    await expect(story.scene.hub.master(desk).getContent(ref.uri)).resolves.toBeDefined();
  });

  it('bar what may lie elsewhere alone from being taken, and from being served here', async () => {
    const story = await Story.begin({ region: 'eu', policy: 'same' });
    expect(await refusal(story.put('terms', { region: 'us' }))).toBe('unsupported');
    const ref = await story.put('terms', { region: 'eu' });
    const there = await Scene.open(openMemoryStore, {
      store: story.scene.store,
      content: { driver: story.driver, regions: { here: 'us', policy: 'same' } },
    });
    expect(await refusal(there.hub.master(desk).getContent(ref.uri))).toBe('unsupported');
    await expect(story.scene.hub.master(desk).getContent(ref.uri)).resolves.toBeDefined();
  });
});

describe('wherever the bytes lie', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.stop());

  it.each<[string, () => Promise<ContentDriver>]>([
    ['files', () => openFileContent({ path: mkdtempSync(join(tmpdir(), 'content-')) })],
    ['a bucket', async () => openS3Content(await server.bucket('hub'))],
  ])('in %s they are put, read, cut, and go with their case', async (_place, open) => {
    const driver = await open();
    const scene = await Scene.open(openMemoryStore, { content: { driver } });
    const task = await scene.task(priya);
    const master = scene.hub.master(desk);
    const { activity } = await master.locate(task.id);
    const content = { activity, mediaType: 'text/plain', bytes: bytes('0123456789') };
    const ref = await master.putContent({ ...content, resource: master.newId('resource') });
    const half = await scene.hub.content.cut(desk, {
      uri: ref.uri,
      selector: { conformsTo: 'http://tools.ietf.org/rfc/rfc9110', value: 'bytes=5-9' },
      resource: master.newId('resource'),
    });
    const { bytes: read } = await master.getContent(half.uri);
    expect(Buffer.from(read).toString()).toBe('56789');
    expect(await driver.list('', 10)).toHaveLength(2);
    await scene.hub.eraseCase(boss, activity);
    expect(await driver.list('', 10)).toEqual([]);
    expect(await refusal(master.getContent(ref.uri))).toBe('not-found');
  });
});

describe('content of an earlier version', () => {
  it('is read where it was kept, and goes with its case', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'content-'));
    const content = { driver: await openFileContent({ path: folder }) };
    const scene = await Scene.open(openMemoryStore, { content });
    const task = await scene.task(priya);
    const master = scene.hub.master(desk);
    const { activity } = await master.locate(task.id);
    const resource = master.newId('resource');
    const ref = await master.putContent({
      activity,
      resource,
      mediaType: 'text/plain',
      bytes: bytes('terms'),
    });
    await scene.store.write(async (writer) => {
      const vault = new Vault(new Uint8Array(32).fill(7));
      const box = await vault.caseBoxFor(writer, activity);
      const note = await writer.record({ kind: 'content', key: resource });
      if (note?.sealed === undefined) throw new Error('nothing kept');
      const { version: _version, ...record } = note;
      const { object: _object, ...shape } = z.record(z.string(), z.json()).parse(note.shape);
      const known = z
        .record(z.string(), z.json())
        .parse(box.open(`content/${resource}`, note.sealed));
      const { key: _key, ...words } = known;
      const { sealed } = box.seal(`content/${resource}`, words);
      await writer.putRecord({ ...record, shape, sealed });
      const kept = { kind: 'content-bytes', key: resource, sort: 0, index: { activity }, activity };
      const old = box.sealBytes(`content-bytes/${resource}`, bytes('terms'));
      await writer.putRecord({ ...kept, shape: {}, sealed: old });
    });
    await content.driver.delete(await content.driver.list('', 10));
    const { bytes: read } = await master.getContent(ref.uri);
    expect(Buffer.from(read).toString()).toBe('terms');
    await scene.hub.eraseCase(boss, activity);
    expect(await refusal(master.getContent(ref.uri))).toBe('not-found');
  });
});
