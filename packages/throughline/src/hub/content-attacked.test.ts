import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileContent } from '../content/index.ts';
import type { ContentRef, ReadTokenRequest } from '../model/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { checker, desk, priya, Prover, refusal, Scene, stores } from './conformance.ts';
import type { ContentOptions } from './content-desk.ts';

/** A case with two pieces of content in it. */
async function begin(
  store: () => ReturnType<typeof openMemoryStore>,
  content: ContentOptions = {},
) {
  const scene = await Scene.open(store, { content });
  const task = await scene.task(priya);
  const { activity } = await scene.hub.master(desk).locate(task.id);
  const master = scene.hub.master(desk);
  const put = (text: string): Promise<ContentRef> =>
    master.putContent({
      activity,
      resource: master.newId('resource'),
      mediaType: 'text/plain',
      bytes: Buffer.from(text),
    });
  return { scene, master, refs: [await put('the first'), await put('the other')] as const };
}

describe('sealed bytes that somebody changed where they lie', () => {
  type Change = (first: string, other: string) => void;
  it.each<[string, Change]>([
    [
      'a bit',
      (first) => {
        const bytes = readFileSync(first);
        bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
        writeFileSync(first, bytes);
      },
    ],
    ['a byte less', (first) => truncateSync(first, readFileSync(first).length - 1)],
    ['nothing left', (first) => truncateSync(first, 0)],
    ['a byte more', (first) => writeFileSync(first, '!', { flag: 'a' })],
    ['another piece in its place', (first, other) => copyFileSync(other, first)],
    [
      'both in each other’s places',
      (first, other) => {
        renameSync(first, `${first}.x`);
        renameSync(other, first);
        renameSync(`${first}.x`, other);
      },
    ],
    ['gone', (first) => rmSync(first)],
    ['plain text', (first) => writeFileSync(first, 'the first')],
  ])('are never served: %s', async (_, change) => {
    const path = mkdtempSync(join(tmpdir(), 'attacked-'));
    const { scene, master, refs } = await begin(openMemoryStore, {
      driver: await openFileContent({ path }),
    });
    const files = readdirSync(path)
      .filter((name) => name !== 'drafts')
      .flatMap((name) => readdirSync(join(path, name)).map((file) => join(path, name, file)));
    const [first = '', other = ''] = files;
    change(first, other);
    const answers = await Promise.all(
      refs.map(async ({ uri }, at) => {
        const read = master.getContent(uri).then(({ bytes }) => Buffer.from(bytes).toString());
        const text = await read.catch((error: unknown) => Object(error).code);
        return text === ['the first', 'the other'][at] ? 'as it was' : text;
      }),
    );
    expect(answers).toContain('damaged');
    for (const answer of answers) expect(['damaged', 'as it was']).toContain(answer);
    await scene.hub.close();
  });
});

const many = Array.from({ length: 8 });
const outcomes = async (tries: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(tries)).map(({ status }) => status).toSorted();
const onlyOne = ['fulfilled', ...many.slice(1).map(() => 'rejected')];

describe.each(stores)('what is good once (%s)', (_name, open) => {
  it('is a proof, however many show it at the same moment', async () => {
    const { scene, master, refs } = await begin(open);
    const [{ uri }] = refs;
    const prover = await Prover.make(scene);
    const asked: ReadTokenRequest = {
      uris: [uri],
      audience: checker.id,
      seconds: 60,
      thumbprint: prover.thumbprint,
    };
    const token = await master.readToken({ ...asked, renewableSeconds: 600 });
    const proof = await prover.proof(token, uri);
    const read = () => scene.hub.content.get(checker, { uri, token, proof });
    expect(await outcomes(many.map(read))).toEqual(onlyOne);
    const at = 'https://hub.example/content-tokens/renew';
    const other = await prover.proof(token, at, { claims: { htm: 'POST' } });
    const renew = () => scene.hub.content.renewToken(checker, { token }, other);
    expect(await outcomes(many.map(renew))).toEqual(onlyOne);
    await scene.hub.close();
  });

  it('is a proof whose time is told in parts of a second', async () => {
    const { scene, refs } = await begin(open);
    const [{ uri }] = refs;
    const prover = await Prover.make(scene);
    const token = await scene.hub.master(desk).readToken({
      uris: [uri],
      audience: checker.id,
      seconds: 60,
      thumbprint: prover.thumbprint,
    });
    const iat = scene.now.getTime() / 1_000 - 0.123_456_7;
    const proof = await prover.proof(token, uri, { claims: { iat } });
    const read = () => scene.hub.content.get(checker, { uri, token, proof });
    expect(Buffer.from((await read()).bytes).toString()).toBe('the first');
    expect(await refusal(read())).toBe('not-found');
  });

  it('is a link, however many follow it at the same moment', async () => {
    const { scene, master, refs } = await begin(open, { inUrls: true });
    const [{ uri }] = refs;
    const token = await master.readToken({ uris: [uri], audience: 'x', seconds: 60, inUrl: true });
    const follow = () => scene.hub.content.get(undefined, { uri, token, inUrl: true });
    expect(await outcomes(many.map(follow))).toEqual(onlyOne);
    await scene.hub.close();
  });
});

it('bytes of one case are not found out by putting them into another', async () => {
  const { scene, master, refs } = await begin(openMemoryStore);
  const elsewhere = await scene.task(priya);
  const { activity } = await scene.hub.master(desk).locate(elsewhere.id);
  const again = await master.putContent({
    activity,
    resource: master.newId('resource'),
    mediaType: 'text/plain',
    bytes: Buffer.from('the first'),
  });
  expect(again.resource).not.toBe(refs[0].resource);
  expect(again.digest).toBe(`sha-256:${createHash('sha256').update('the first').digest('hex')}`);
  expect(await refusal(scene.hub.master(checker).getContent(refs[0].uri))).toBe('not-found');
  await scene.hub.close();
});

it('an agent that is handed what it may read itself reads it by the right that came along, or not', async () => {
  const { scene, master, refs } = await begin(openMemoryStore);
  const task = await scene.task(priya, { agent: checker });
  const own = scene.hub.agent(checker);
  const output = await own.putOutput({
    taskId: task.id,
    name: 'own',
    mediaType: 'text/plain',
    bytes: Buffer.from('put out for Priya'),
  });
  const token = await master.readToken({ uris: [refs[0].uri], audience: checker.id, seconds: 60 });
  for (const shown of ['no.to.ken', token]) {
    expect(await refusal(own.getContent(output.uri, shown))).toBe('not-found');
  }
  expect((await scene.hub.master(checker).getContent(output.uri)).bytes.length).toBe(17);
  await scene.hub.close();
});
