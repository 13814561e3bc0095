import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createMediaCut, cut } from './index.ts';

/** The machine's own, which not every machine has; without it these tests have nothing to run. */
const ffmpeg = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((path) => join(path, 'ffmpeg'))
  .find((file) => existsSync(file));
const tool = ffmpeg ?? '';
const folder = mkdtempSync(join(tmpdir(), 'media-'));

/** Three seconds of a picture and a tone, with words about them in the file. */
function film(name: string, options: readonly string[]): Uint8Array {
  const file = join(folder, name);
  const sources = ['testsrc=duration=3:size=64x64:rate=10', 'sine=duration=3'];
  const inputs = sources.flatMap((source) => ['-f', 'lavfi', '-i', source]);
  const words = ['-metadata', 'title=canary'];
  const { status, stderr } = spawnSync(tool, ['-y', ...inputs, ...words, ...options, file]);
  if (status !== 0) throw new Error(String(stderr));
  return new Uint8Array(readFileSync(file));
}

const time = (value: string) =>
  ({ conformsTo: 'http://www.w3.org/TR/media-frags/', value }) as const;
const media = createMediaCut(tool);
const secondsOf = (bytes: Uint8Array): number => {
  const file = join(folder, 'measured');
  writeFileSync(file, bytes);
  const { stderr } = spawnSync(tool, ['-i', file]);
  const found = /Duration: 00:00:(\d+\.\d+)/.exec(String(stderr))?.[1];
  return Number(found);
};

describe('cutting by a tool that is not there', () => {
  it('is refused in words of ours', async () => {
    const missing = createMediaCut(join(folder, 'no-such-tool'));
    const piece = { mediaType: 'video/mp4', bytes: new Uint8Array([1]) };
    await expect(cut(piece, time('t=0,1'), missing)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('can’t be started'),
    });
  });
});

describe('what a cut left behind whose process was killed', () => {
  it('is cleared by the next one, and nothing that is being cut', async () => {
    const [old, fresh] = ['old', 'fresh'].map((name) =>
      mkdtempSync(join(tmpdir(), `throughline-cut-${name}`)),
    );
    if (old === undefined || fresh === undefined) throw new Error('no folders');
    writeFileSync(join(old, 'in'), 'canary');
    utimesSync(old, new Date(0), new Date(0));
    const missing = createMediaCut(join(folder, 'no-such-tool'));
    const piece = { mediaType: 'video/mp4', bytes: new Uint8Array([1]) };
    await cut(piece, time('t=0,1'), missing).catch(() => undefined);
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
    rmdirSync(fresh);
  });
});

describe.skipIf(ffmpeg === undefined)('time in audio and video (needs ffmpeg)', () => {
  const closing: (() => void)[] = [];
  afterAll(() => {
    for (const close of closing) close();
  });

  it.each([
    ['film.mp4', 'video/mp4', 'video/mp4', ['-c:v', 'mpeg4', '-c:a', 'aac']],
    ['film.webm', 'video/webm', 'video/webm', ['-c:v', 'libvpx', '-c:a', 'libvorbis']],
    ['tone.mp3', 'audio/mpeg', 'audio/wav', ['-vn']],
  ])(
    '%s is cut, encoded anew, and stripped of what it says of itself',
    async (name, mediaType, made, options) => {
      const bytes = film(name, options);
      expect(Buffer.from(bytes).toString('latin1')).toContain('canary');
      const part = await cut({ mediaType, bytes }, time('t=1,2'), media);
      expect(part.mediaType).toBe(made);
      expect(Buffer.from(part.bytes).toString('latin1')).not.toContain('canary');
      expect(secondsOf(part.bytes)).toBeCloseTo(1, 0);
      const rest = await cut({ mediaType, bytes }, time('t=2.5'), media);
      expect(secondsOf(rest.bytes)).toBeLessThan(1);
      // A file without a moment would pass for a part.
      await expect(cut({ mediaType, bytes }, time('t=10,20'), media)).rejects.toMatchObject({
        code: 'invalid',
        message: 'selector: selects nothing of this content',
      });
    },
    60_000,
  );

  it('reads nothing but what it is given: no playlist leads to files or hosts', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    closing.push(() => server.close());
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    film('secret.mp4', ['-c:v', 'mpeg4', '-c:a', 'aac']);
    const local = join(folder, 'secret.mp4');
    const lists = [`http://127.0.0.1:${port}/x.ts`, local].map(
      (target) => `#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n${target}\n#EXT-X-ENDLIST\n`,
    );
    for (const text of [...lists, `ffconcat version 1.0\nfile '${local}'\n`]) {
      const piece = { mediaType: 'video/mp4', bytes: Buffer.from(text) };
      await expect(cut(piece, time('t=0,1'), media)).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('could not read'),
      });
    }
    expect(asked).toBe(0);
  }, 60_000);

  it('refuses what is no media, and more at once than it has room for', async () => {
    const piece = { mediaType: 'video/mp4', bytes: Buffer.from('nothing of the kind') };
    const all = [1, 2, 3].map(() => cut(piece, time('t=0,1'), media));
    const codes = (await Promise.allSettled(all)).map((each) =>
      each.status === 'rejected' ? Object(each.reason).code : 'cut',
    );
    expect(codes).toEqual(['unsupported', 'unsupported', 'unavailable']);
  }, 60_000);
});
