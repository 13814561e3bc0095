import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { S3mini } from 's3mini';
import { describeContent, newObjectId } from '../conformance.ts';
import { startS3, temporary, type S3Server } from './conformance.ts';
import { openS3Content, type S3Options } from './index.ts';

let server: S3Server;
let last: S3Options;
let buckets = 0;

beforeAll(async () => {
  server = await startS3();
});
afterAll(() => server.stop());

const bucket = async () => {
  const options = await server.bucket(`content-${++buckets}`);
  last = options;
  return options;
};

describeContent(
  'content in a bucket',
  async () => openS3Content({ ...(await bucket()), prefix: 'hub/' }),
  () => openS3Content({ ...last, prefix: 'hub/' }),
);

describe('content in a bucket', () => {
  it('keeps to its prefix', async () => {
    const options = await bucket();
    const [one, other] = [
      await openS3Content({ ...options, prefix: 'one/' }),
      await openS3Content({ ...options, prefix: 'other/' }),
    ];
    const id = newObjectId();
    await one.put(id, new Uint8Array([1]));
    expect(await other.get(id)).toBeUndefined();
    expect(await other.list('', 10)).toEqual([]);
    await other.delete([id]);
    expect(await one.list('', 10)).toEqual([id]);
  });

  it('passes over what somebody else put beside', async () => {
    const options = await bucket();
    const client = new S3mini(options);
    for (const name of ['0-first', 'notes.txt', 'zz']) await client.putObject(name, 'x');
    const content = await openS3Content(options);
    const ids = [newObjectId(), newObjectId()].toSorted();
    for (const id of ids) await content.put(id, new Uint8Array([1]));
    expect(await content.list('', 1)).toEqual(ids.slice(0, 1));
    expect(await content.list('', 10)).toEqual(ids);
  });

  it('serves nothing longer than what is ever put', async () => {
    const options = await bucket();
    const content = await openS3Content(options);
    const id = newObjectId();
    await new S3mini(options).putObject(id, new Uint8Array(8_400_000));
    await expect(content.get(id)).rejects.toMatchObject({ code: 'damaged' });
  });

  it('is opened with the secret of its key alone, each call signed for what it is', async () => {
    const options = await bucket();
    const content = await openS3Content(options);
    const id = newObjectId();
    const before = server.refused.length;
    await content.put(id, new Uint8Array([1]));
    expect(await content.get(id)).toEqual(new Uint8Array([1]));
    expect(await content.list('', 10)).toEqual([id]);
    expect(server.refused).toHaveLength(before);
    const wrong = openS3Content({ ...options, secretAccessKey: 'another' });
    await expect(wrong).rejects.toMatchObject({ code: 'unavailable', retryable: false });
    const elsewhere = openS3Content({ ...options, region: 'eu-west-1' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'unavailable' });
    expect(server.refused.slice(before)).toEqual([
      'is signed with another secret, or was changed',
      'not by a known key',
    ]);
    expect(await content.get(id)).toEqual(new Uint8Array([1]));
  });

  it('is opened with keys that hold for a time, by their token', async () => {
    const { sessionToken, ...keys } = temporary;
    const options = { ...(await bucket()), ...keys };
    const content = await openS3Content({ ...options, sessionToken });
    const ids = [newObjectId(), newObjectId()].toSorted();
    for (const id of ids) await content.put(id, new Uint8Array([1]));
    expect(await content.get(ids[0] ?? '')).toEqual(new Uint8Array([1]));
    expect(await content.list('', 10)).toEqual(ids);
    await content.delete(ids);
    expect(await content.list('', 10)).toEqual([]);
    const before = server.refused.length;
    for (const wrong of [options, { ...options, sessionToken: 'of another time' }]) {
      await expect(openS3Content(wrong)).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(server.refused.slice(before)).toEqual(['is without its token', 'is without its token']);
  });

  it('signs for one call and no other', async () => {
    const { endpoint, ...options } = await bucket();
    const content = await openS3Content({ ...options, endpoint });
    const sent = vi.spyOn(globalThis, 'fetch');
    const [id, other] = [newObjectId(), newObjectId()];
    await content.put(id, new Uint8Array([1]));
    const [request] = sent.mock.calls.at(-1) ?? [];
    sent.mockRestore();
    if (!(request instanceof Request)) throw new Error('a request was sent');
    const headers = Object.fromEntries(request.headers);
    const statusOf = async (method: string, name: string) =>
      (await fetch(`${endpoint}/${name}`, { method, headers })).status;
    expect(await statusOf('PUT', id)).toBe(200);
    expect(await statusOf('PUT', other)).toBe(403);
    expect(await statusOf('DELETE', id)).toBe(403);
    headers['x-amz-date'] = '20200101T000000Z';
    expect(await statusOf('PUT', id)).toBe(403);
  });

  it('is refused where there is no bucket, and without naming the secret', async () => {
    const options = await bucket();
    const elsewhere = { ...options, endpoint: `${options.endpoint}-missing` };
    await expect(openS3Content(elsewhere)).rejects.toMatchObject({ code: 'unavailable' });
    const stranger = { ...options, accessKeyId: 'nobody' };
    await expect(openS3Content(stranger)).rejects.toMatchObject({ code: 'unavailable' });
    const wrong = { ...options, endpoint: 'ftp://x/y', secretAccessKey: 'very-secret' };
    const error: unknown = await openS3Content(wrong).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid' });
    expect(String(error)).not.toContain('very-secret');
    const prefixed = openS3Content({ ...options, prefix: '../x/' });
    await expect(prefixed).rejects.toMatchObject({ code: 'invalid' });
  });

  it('says that a service out of reach may be tried again', async () => {
    const gone = await startS3();
    const content = await openS3Content(await gone.bucket('gone'));
    await gone.stop();
    await expect(content.put(newObjectId(), new Uint8Array([1]))).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
    });
  });
});
