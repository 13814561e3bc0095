import { ThroughlineError } from '../../errors.ts';
import type { Range } from './range.ts';

const headBytes = 12;
const chunkHead = 8;
const formatBytes = 16;
/** PCM, IEEE float, and the form that names either in its extension. */
const plainFormats: ReadonlySet<number> = new Set([1, 3, 0xfffe]);

interface Wave {
  readonly format: Buffer;
  readonly data: Buffer;
  /** Bytes of one moment of all channels. */
  readonly frame: number;
  /** Moments a second. */
  readonly rate: number;
}

/**
 * The moments in the ranges of seconds, as a WAV of its own: its format and its samples, and nothing
 * else that the file held. Empty when none is there.
 *
 * @throws ThroughlineError `unsupported` for what is no WAV of plain samples.
 */
export function cutWave(bytes: Uint8Array, ranges: readonly Range[]): Uint8Array {
  const { format, data, frame, rate } = parse(bytes);
  const frames = Math.floor(data.length / frame);
  const parts = ranges.map(([from, to]) =>
    data.subarray(
      frame * Math.min(frames, Math.ceil(from * rate)),
      frame * Math.min(frames, to === Infinity ? frames : Math.ceil(to * rate)),
    ),
  );
  const samples = Buffer.concat(parts);
  return samples.length === 0 ? samples : new Uint8Array(compose(format, samples));
}

function parse(bytes: Uint8Array): Wave {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isWave =
    file.toString('latin1', 0, 4) === 'RIFF' && file.toString('latin1', 8, 12) === 'WAVE';
  if (!isWave) throw strange();
  let format: Buffer | undefined;
  for (let at = headBytes; at + chunkHead <= file.length;) {
    const name = file.toString('latin1', at, at + 4);
    const length = file.readUInt32LE(at + 4);
    const body = file.subarray(at + chunkHead, at + chunkHead + length);
    if (name === 'fmt ' && body.length >= formatBytes) format = body;
    if (name === 'data' && format !== undefined) return wave(format, body);
    at += chunkHead + length + (length % 2);
  }
  throw strange();
}

function wave(format: Buffer, data: Buffer): Wave {
  const [frame, rate] = [format.readUInt16LE(12), format.readUInt32LE(4)];
  if (!plainFormats.has(format.readUInt16LE(0)) || frame === 0 || rate === 0) throw strange();
  return { format, data, frame, rate };
}

function compose(format: Buffer, samples: Buffer): Buffer {
  const body = Buffer.concat([
    Buffer.from('WAVE', 'latin1'),
    chunk('fmt ', format),
    chunk('data', samples),
  ]);
  return chunk('RIFF', body);
}

function chunk(name: string, body: Buffer): Buffer {
  const head = Buffer.alloc(chunkHead);
  head.write(name, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

const strange = (): ThroughlineError =>
  new ThroughlineError('unsupported', 'selector: the content is no WAV of plain samples');
