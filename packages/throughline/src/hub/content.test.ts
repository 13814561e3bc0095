import { beforeEach, describe, expect, it } from 'vitest';
import { generateKeyPair, SignJWT } from 'jose';
import { z } from 'zod';
import type { TaskRecord } from '../model/index.ts';
import { bob, boss, checker, desk, priya, refusal, refused, Scene, stores } from './conformance.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = ({ bytes: content }: { bytes: Uint8Array }): string => Buffer.from(content).toString();

describe.each(stores)('offloaded content (%s)', (_name, open) => {
  let scene: Scene;
  let task: TaskRecord;
  let activity: string;

  const master = () => scene.hub.master(desk);
  const reader = () => scene.hub.agent(checker);

  beforeEach(async () => {
    scene = await Scene.open(open);
    task = await scene.task(priya);
    ({ activity } = await master().locate(task.id));
  });

  const put = (content = 'terms of the card', resource = master().newId('resource')) =>
    master().putContent({ activity, resource, mediaType: 'text/plain', bytes: bytes(content) });
  const token = (uri: string, seconds = 60) =>
    master().readToken({ uris: [uri], audience: 'checker', seconds });

  it('has a stable address without a secret, a size and a digest', async () => {
    const resource = master().newId('resource');
    const ref = await put('terms', resource);
    expect(ref).toEqual({
      resource,
      uri: `https://hub.example/content/${resource}`,
      mediaType: 'text/plain',
      size: 5,
      digest: expect.stringMatching(/^sha-256:/),
    });
    expect(text(await master().getContent(ref.uri))).toBe('terms');
  });

  it('is kept once for each case', async () => {
    const first = await put('same');
    expect(await put('same')).toEqual(first);
    expect((await put('other')).resource).not.toBe(first.resource);
    expect(await refusal(put('different bytes', first.resource))).toBe('conflict');
    const elsewhere = await scene.task(bob);
    const there = await master().locate(elsewhere.id);
    const again = await master().putContent({
      activity: there.activity,
      resource: master().newId('resource'),
      mediaType: 'text/plain',
      bytes: bytes('same'),
    });
    expect(again.resource).not.toBe(first.resource);
    const taken = {
      activity: there.activity,
      resource: first.resource,
      mediaType: 'text/plain',
      bytes: bytes('x'),
    };
    expect(await refusal(master().putContent(taken))).toMatch(/^(conflict|not-found)$/);
  });

  it('is read with a token by the one it was made for, for its time and its address', async () => {
    const ref = await put();
    const other = await put('other');
    const right = await token(ref.uri);
    expect(text(await reader().getContent(ref.uri, right))).toBe('terms of the card');
    const refusals = [
      refused(reader().getContent(other.uri, right)),
      refused(scene.hub.agent(bob).getContent(ref.uri, right)),
      refused(scene.hub.agent({ ...checker, tenant: 'rival' }).getContent(ref.uri, right)),
      refused(scene.hub.agent(boss).getContent(ref.uri, right)),
      refused(reader().getContent(ref.uri, '')),
      refused(reader().getContent(ref.uri, `${right}x`)),
      refused(reader().getContent(`${ref.uri}?x=1`, right)),
      refused(reader().getContent(`https://other.example/content/${ref.resource}`, right)),
      refused(reader().getContent('https://hub.example/content/../tasks', right)),
      refused(scene.hub.master(checker).getContent(ref.uri)),
      refused(scene.hub.master(priya).getContent(ref.uri)),
    ];
    const errors = await Promise.all(refusals);
    const texts = errors.map(({ code, message }) => `${code} ${message.replace(/"[^"]*"/, 'URI')}`);
    expect(new Set(texts).size).toBe(1);
    expect(errors[0]?.code).toBe('not-found');
    expect(texts.join()).not.toContain(right);
    scene.pass(60_000);
    const late = await refused(reader().getContent(ref.uri, right));
    expect({ code: late.code, says: late.message }).toEqual({
      code: 'gone',
      says: expect.stringMatching(/token is over; ask whoever/),
    });
    // Whoever it was not made for learns nothing of it.
    expect(await refusal(scene.hub.agent(bob).getContent(ref.uri, right))).toBe('not-found');
  });

  it('is not opened by a token of another make', async () => {
    const ref = await put();
    const now = Math.floor(scene.now.getTime() / 1_000);
    const { privateKey } = await generateKeyPair('EdDSA');
    const claims = () =>
      new SignJWT()
        .setSubject(ref.uri)
        .setAudience('checker')
        .setIssuedAt(now)
        .setNotBefore(now)
        .setExpirationTime(now + 60)
        .setJti('j');
    const secret = new Uint8Array(32);
    const forged = [
      await claims().setProtectedHeader({ alg: 'EdDSA', typ: 'ctx+jwt' }).sign(privateKey),
      await claims().setProtectedHeader({ alg: 'HS256', typ: 'ctx+jwt' }).sign(secret),
      `${Buffer.from('{"alg":"none","typ":"ctx+jwt"}').toString('base64url')}.${(await token(ref.uri)).split('.')[1]}.`,
    ];
    for (const each of forged) {
      expect(await refusal(reader().getContent(ref.uri, each))).toBe('not-found');
    }
  });

  it('lets only those who may read it make a token, and none for long', async () => {
    const ref = await put();
    const make = (by: typeof desk, seconds = 60) =>
      refusal(scene.hub.master(by).readToken({ uris: [ref.uri], audience: 'bob', seconds }));
    for (const by of [checker, bob, boss, priya, { ...desk, tenant: 'rival' }]) {
      expect(await make(by)).toBe('not-found');
    }
    expect(await make(desk, 0)).toBe('invalid');
    expect(await make(desk, 601)).toBe('invalid');
    expect(await make(desk, 1.5)).toBe('invalid');
    const unknown = `https://hub.example/content/${master().newId('resource')}`;
    expect(await refusal(token(unknown))).toBe('not-found');
  });

  it('is refused to whoever takes no part in the case, and over its limit', async () => {
    const before = await scene.state();
    const content = { activity, resource: master().newId('resource'), mediaType: 'text/plain' };
    const stranger = scene.hub.master(bob);
    expect(await refusal(stranger.putContent({ ...content, bytes: bytes('x') }))).toBe('not-found');
    const big = new Uint8Array(8_388_609);
    expect(await refusal(master().putContent({ ...content, bytes: big }))).toBe('too-large');
    const odd = { ...content, mediaType: 'not a type', bytes: bytes('x') };
    expect(await refusal(master().putContent(odd))).toBe('invalid');
    expect(await scene.state()).toEqual(before);
  });

  it('is never served changed', async () => {
    const ref = await put();
    const other = await put('other');
    await scene.store.write(async (writer) => {
      const note = await writer.record({ kind: 'content', key: other.resource });
      if (note === undefined) throw new Error('nothing kept');
      const { version: _version, ...record } = note;
      const shape = z.record(z.string(), z.json()).parse(note.shape);
      await writer.putRecord({ ...record, shape: { ...shape, digest: ref.digest } });
    });
    expect(await refusal(master().getContent(other.uri))).toBe('damaged');
  });

  it('takes no name of a Resource of another case', async () => {
    const elsewhere = await master().locate((await scene.task(bob)).id);
    const resource = master().newId('resource');
    const statement = { says: 'resource.known', activity: elsewhere.activity } as const;
    await master().assert([{ about: resource, statement }]);
    expect(await refusal(put('terms', resource))).toBe('not-found');
  });

  it('takes no name of a Resource that is known with other bytes or by another', async () => {
    const self = await master().participant({ kind: 'agent', principal: desk.id });
    const peer = await master().participant({ kind: 'agent', principal: checker.id });
    const dialog = master().newId('dialog');
    const told = { ...(await put('real')), resource: master().newId('resource') };
    const { digest, size } = told;
    await master().assert([
      {
        about: dialog,
        statement: { says: 'dialog.opened', activity, participants: [self, peer], managed: 'ours' },
      },
      { about: told.resource, statement: { says: 'resource.known', activity, digest, size } },
    ]);
    const by = (principal: typeof desk, content: string) =>
      scene.hub.master(principal).putContent({
        activity,
        resource: told.resource,
        mediaType: 'text/markdown',
        bytes: bytes(content),
      });
    const before = await scene.state();
    expect(await refusal(by(desk, 'forged'))).toBe('conflict');
    expect(await refusal(by(checker, 'real'))).toBe('conflict');
    expect(await scene.state()).toEqual(before);
    expect((await by(desk, 'real')).resource).toBe(told.resource);
  });

  it('put out by a task is not read by whoever joined its Dialog later', async () => {
    const made = await scene.task(desk, { agent: checker });
    const ref = await reader().putOutput({
      taskId: made.id,
      name: 'report',
      mediaType: 'text/plain',
      bytes: bytes('four'),
    });
    const { dialogs } = await scene.hub.caseView(desk, made.contextId);
    const participant = await scene.hub.master(bob).participant({ kind: 'user', principal: 'bob' });
    await master().assert([
      { about: dialogs[0]?.id ?? '', statement: { says: 'dialog.joined', participant } },
    ]);
    expect(await refusal(scene.hub.master(bob).getContent(ref.uri))).toBe('not-found');
    expect(text(await master().getContent(ref.uri))).toBe('four');
  });

  it('put out by a task is a Resource of it, read by both sides of that Dialog', async () => {
    const made = await scene.task(desk, { agent: checker });
    const output = {
      taskId: made.id,
      name: 'report',
      mediaType: 'text/plain',
      bytes: bytes('four'),
    };
    const ref = await reader().putOutput(output);
    expect(await reader().putOutput(output)).toEqual(ref);
    const { resources, relationships } = await scene.hub.caseView(desk, made.contextId);
    expect(resources).toMatchObject([
      { id: ref.resource, name: 'report', digest: ref.digest, locator: ref.uri },
    ]);
    expect(relationships).toMatchObject([{ type: 'output-of', from: ref.resource }]);
    expect(text(await master().getContent(ref.uri))).toBe('four');
    expect(text(await scene.hub.master(checker).getContent(ref.uri))).toBe('four');
    expect(await refusal(scene.hub.master(bob).getContent(ref.uri))).toBe('not-found');
    expect(await refusal(scene.hub.agent(desk).putOutput(output))).toBe('not-found');
    expect(await refusal(reader().putOutput({ ...output, taskId: task.id }))).toBe('not-found');
    const second = await scene.task(desk, { agent: checker, contextId: made.contextId });
    const twin = await reader().putOutput({ ...output, taskId: second.id });
    expect(twin.digest).toBe(ref.digest);
    expect(twin.resource).not.toBe(ref.resource);
    const after = await scene.hub.caseView(desk, made.contextId);
    expect(after.conflicts).toEqual([]);
    expect(after.relationships.filter(({ type }) => type === 'output-of')).toHaveLength(2);
  });
});
