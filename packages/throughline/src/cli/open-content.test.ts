import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startS3, temporary, type S3Server } from '../content/s3/conformance.ts';
import { DataFolder } from './data-folder.ts';
import { openContent } from './open-content.ts';
import { openHub } from './wire.ts';

const newFolder = (): DataFolder => new DataFolder(mkdtempSync(join(tmpdir(), 'data-')));
const keys = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'very-secret' };
const id = 'a'.repeat(32);
const openAt = (at: string, environment = {}) =>
  openContent(newFolder(), { at }, false, environment);

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.stop());

describe('the place for content', () => {
  it('is beside a database in the folder, and in one that other hubs reach', async () => {
    const folder = newFolder();
    const own = await openContent(folder, {}, false, {});
    await own.driver?.put(id, new Uint8Array([1]));
    expect(readdirSync(join(folder.path, 'content', 'aa'))).toEqual([id]);
    const shared = await openContent(folder, {}, true, {});
    expect(shared.driver).toBeUndefined();
  });

  it('is a folder that is named', async () => {
    const at = join(newFolder().path, 'elsewhere');
    const { driver } = await openContent(newFolder(), { at }, true, {});
    await driver?.put(id, new Uint8Array([1]));
    expect(readdirSync(join(at, 'aa'))).toEqual([id]);
  });

  it('is a bucket, with a prefix, reached by keys from the environment', async () => {
    const { endpoint, accessKeyId, secretAccessKey } = await s3.bucket('offloaded');
    const own = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    const origin = encodeURIComponent(new URL(endpoint).origin);
    const open = (place: string, environment: Record<string, string> = own) =>
      openContent(newFolder(), { at: `${place}?endpoint=${origin}` }, false, environment);
    const { driver } = await open('s3://offloaded/hub');
    await driver?.put(id, new Uint8Array([1]));
    const same = await open('s3://offloaded/hub/');
    expect(await same.driver?.list('', 9)).toEqual([id]);
    const whole = await open('s3://offloaded');
    expect(await whole.driver?.list('', 9)).toEqual([]);
    const forATime = {
      AWS_ACCESS_KEY_ID: temporary.accessKeyId,
      AWS_SECRET_ACCESS_KEY: temporary.secretAccessKey,
    };
    const AWS_SESSION_TOKEN = temporary.sessionToken;
    const timed = await open('s3://offloaded/hub', { ...forATime, AWS_SESSION_TOKEN });
    expect(await timed.driver?.list('', 9)).toEqual([id]);
    await expect(open('s3://offloaded', forATime)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(open('s3://offloaded', keys)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is not opened by keys in a URL, without keys, or of another kind', async () => {
    await expect(openAt('s3://bucket')).rejects.toMatchObject({ code: 'invalid' });
    const error: unknown = await openAt('s3://me:hidden@bucket', keys).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'invalid' });
    expect(String(error)).not.toMatch(/hidden|very-secret/);
    await expect(openAt('gs://bucket')).rejects.toMatchObject({ code: 'unsupported' });
  });
});

it('a hub in a folder finds its content again after a restart', async () => {
  const dataDir = newFolder().path;
  const open = () => openHub({ dataDir, origin: 'http://hub.test' });
  const master = { tenant: 't', id: 'desk', role: 'agent' } as const;
  const first = await open();
  const desk = first.master(master);
  const [dialog, resource] = [desk.newId('dialog'), desk.newId('resource')];
  const activity = resource.replace('res_', 'act_');
  const self = await desk.participant({ kind: 'agent', principal: master.id });
  const peer = await desk.participant({ kind: 'tool', url: 'https://tool.example/' });
  await desk.assert([
    { about: activity, statement: { says: 'activity.opened', initiator: self } },
    {
      about: dialog,
      statement: { says: 'dialog.opened', activity, participants: [self, peer], managed: 'none' },
    },
  ]);
  const bytes = Buffer.from('terms');
  const ref = await desk.putContent({ activity, resource, mediaType: 'text/plain', bytes });
  await first.close();
  const second = await open();
  const read = await second.master(master).getContent(ref.uri);
  expect(Buffer.from(read.bytes).toString()).toBe('terms');
  await second.close();
});
