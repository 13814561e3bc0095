import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ThroughlineError } from '../../errors.ts';
import { limits } from '../../model/limits.ts';
import type { Range } from './range.ts';

/** Cuts seconds out of a piece of audio or video. */
export type CutMedia = (
  piece: { readonly mediaType: string; readonly bytes: Uint8Array },
  range: Range,
) => Promise<{ mediaType: string; bytes: Uint8Array }>;

const prefix = 'throughline-cut-';
const longestMs = 60_000;
/** Cuts at a time; one more waits for none and is refused. */
const most = 2;

/** Each container is written anew, with codecs that are in any build. */
const outputs: readonly (readonly [fits: RegExp, mediaType: string, options: readonly string[]])[] =
  [
    [/^video\/webm/, 'video/webm', ['-c:v', 'libvpx', '-c:a', 'libvorbis', '-f', 'webm']],
    [/^video\//, 'video/mp4', ['-c:v', 'mpeg4', '-c:a', 'aac', '-f', 'mp4']],
    [/^audio\//, 'audio/wav', ['-vn', '-c:a', 'pcm_s16le', '-f', 'wav']],
  ];

/** What is read: no playlists and scripts, which name other files. */
const containers = 'mov,mp4,m4a,matroska,webm,avi,mpegts,mp3,ogg,flac,aac,wav';

/**
 * Cuts by the ffmpeg at `path`: in a folder of its own, from a file into a file, without a network, a
 * terminal, an environment, or more than a minute; encoded anew and without the metadata of the whole.
 * Gives no bytes where nothing is in the range.
 */
export function createMediaCut(path: string): CutMedia {
  let running = 0;
  return async (piece, range) => {
    const output = outputs.find(([fits]) => fits.test(piece.mediaType));
    if (output === undefined) throw failed('knows no such media');
    if (running >= most) {
      throw new ThroughlineError('unavailable', 'selector: enough media is being cut; try again');
    }
    running += 1;
    const folder = await mkdtemp(join(tmpdir(), prefix));
    try {
      await sweepFolders();
      const [from, to] = [join(folder, 'in'), join(folder, 'out')];
      await writeFile(from, piece.bytes, { mode: 0o600 });
      const made = await run(path, argumentsOf(from, to, range, output[2]), folder);
      if (made === 'nothing') return { mediaType: output[1], bytes: new Uint8Array() };
      if ((await stat(to)).size > limits.contentBytes) throw failed('made more than is served');
      return { mediaType: output[1], bytes: new Uint8Array(await readFile(to)) };
    } finally {
      running -= 1;
      await rm(folder, { recursive: true, force: true });
    }
  };
}

/** What a cut whose process was killed left behind is content in the clear. */
async function sweepFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(tmpdir(), name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (mtimeMs < Date.now() - 2 * longestMs) await rm(folder, { recursive: true, force: true });
  }
}

function argumentsOf(
  from: string,
  to: string,
  [start, end]: Range,
  codecs: readonly string[],
): string[] {
  // Where no moment is in the range, there is no empty film.
  const input = `-nostdin -abort_on empty_output -hide_banner -loglevel error -protocol_whitelist file -format_whitelist ${containers} -threads 1`;
  const length = end === Infinity ? '' : `-t ${end - start}`;
  const plain = '-map_metadata -1 -map_chapters -1 -sn -dn';
  const same = '-fflags +bitexact -flags:v +bitexact -flags:a +bitexact';
  const output = `-ss ${start} ${length} ${plain} ${same} -fs ${limits.contentBytes}`;
  return [...words(input), '-i', from, ...words(output), ...codecs, to];
}

const words = (text: string): string[] => text.split(/\s+/);

/** Longest part of what it says that is looked at, in characters. */
const mostWords = 4_096;

async function run(
  path: string,
  options: readonly string[],
  cwd: string,
): Promise<'something' | 'nothing'> {
  const { promise, resolve, reject } = Promise.withResolvers<'something' | 'nothing'>();
  const child = spawn(path, options, {
    cwd,
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: longestMs,
    killSignal: 'SIGKILL',
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    said = (said + piece).slice(-mostWords);
  });
  child.once('error', () => reject(failed('can’t be started')));
  child.once('close', (code) => {
    if (code === 0) resolve('something');
    else if (/^Empty output$/m.test(said)) resolve('nothing');
    else reject(failed(code === null ? 'took too long' : 'could not read the content'));
  });
  return promise;
}

const failed = (why: string): ThroughlineError =>
  new ThroughlineError('unsupported', `selector: the media can’t be cut: ffmpeg ${why}`);
