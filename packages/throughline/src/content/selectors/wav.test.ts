import { expect, it } from 'vitest';
import { cut } from './index.ts';

const chunk = (name: string, body: Uint8Array): Buffer => {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
};

/** Seconds of silence but for one sample of each moment: its number. 16 bit, ten moments a second. */
function wave(seconds: number, channels: number, extra: readonly Buffer[] = []): Buffer {
  const rate = 10;
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate * channels * 2, 8);
  format.writeUInt16LE(channels * 2, 12);
  format.writeUInt16LE(16, 14);
  const data = Buffer.alloc(seconds * rate * channels * 2);
  for (let at = 0; at < seconds * rate; at++) data.writeInt16LE(at, at * channels * 2);
  const parts = [chunk('fmt ', format), ...extra, chunk('data', data), ...extra];
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...parts]));
}

const time = (value: string) =>
  ({ conformsTo: 'http://www.w3.org/TR/media-frags/', value }) as const;
const partOf = (bytes: Uint8Array, value: string, mediaType = 'audio/wav') =>
  cut({ mediaType, bytes }, time(value));
/** The numbers of the moments in a WAV, read by hand. */
function moments(bytes: Uint8Array, channels: number): number[] {
  const file = Buffer.from(bytes);
  const at = file.indexOf('data', 0, 'latin1');
  const length = file.readUInt32LE(at + 4);
  const found: number[] = [];
  for (let byte = 0; byte < length; byte += channels * 2)
    found.push(file.readInt16LE(at + 8 + byte));
  return found;
}

it.each([
  ['t=0,1', 1, 0, 10],
  ['t=1.5,2', 2, 15, 20],
  ['t=2', 1, 20, 30],
  ['t=,0.3', 2, 0, 3],
  ['t=2.9,99', 1, 29, 30],
])('%s of %s channels is its moments, whole', async (value, channels, from, to) => {
  const { bytes } = await partOf(wave(3, channels), value);
  const expected = Array.from({ length: to - from }, (_, at) => from + at);
  expect(moments(bytes, channels)).toEqual(expected);
  const file = Buffer.from(bytes);
  expect(file.readUInt32LE(4)).toBe(file.length - 8);
});

it('carries nothing of what the file held beside its sound', async () => {
  const secret = chunk('LIST', Buffer.from('INFO canary'));
  const { bytes } = await partOf(wave(3, 1, [secret]), 't=0,1');
  expect(moments(bytes, 1)).toHaveLength(10);
  expect(Buffer.from(bytes).toString('latin1')).not.toContain('canary');
});

it('joins on to the next one without a moment lost or doubled', async () => {
  const whole = wave(3, 2);
  const parts = await Promise.all(
    ['t=0,0.77', 't=0.77,1.91', 't=1.91'].map((t) => partOf(whole, t)),
  );
  const joined = parts.flatMap(({ bytes }) => moments(bytes, 2));
  expect(joined).toEqual(moments(whole, 2));
});

it('is refused beyond the end, and of what is no WAV', async () => {
  await expect(partOf(wave(3, 1), 't=3')).rejects.toMatchObject({ code: 'invalid' });
  const broken = [
    Buffer.from('RIFF'),
    Buffer.from('not a wave at all, nor anything like one'),
    wave(3, 1).subarray(0, 40),
    Buffer.concat([Buffer.from('RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\xff', 'latin1')]),
  ];
  for (const bytes of broken) {
    await expect(partOf(bytes, 't=0,1')).rejects.toMatchObject({ code: 'unsupported' });
  }
  const compressed = wave(3, 1);
  compressed.writeUInt16LE(85, 20);
  await expect(partOf(compressed, 't=0,1')).rejects.toMatchObject({ code: 'unsupported' });
});

it('takes what a file holds for the end of one that claims more', async () => {
  const { bytes } = await partOf(wave(3, 1).subarray(0, 64), 't=0,99');
  expect(moments(bytes, 1)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it('needs a tool for other media, and says so', async () => {
  for (const type of ['video/mp4', 'audio/mpeg']) {
    await expect(partOf(wave(1, 1), 't=0,1', type)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('ffmpeg'),
    });
  }
  await expect(partOf(wave(1, 1), 't=0,1', 'text/plain')).rejects.toMatchObject({
    code: 'unsupported',
  });
});
