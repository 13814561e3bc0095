import { ThroughlineError } from '../../errors.ts';
import { isJson, isText } from '../../handover/media.ts';
import type { Selector } from '../../model/resource.ts';
import type { CutMedia } from './ffmpeg.ts';
import { valueAt } from './json.ts';
import { type Axis, type Range, selectionOf } from './range.ts';
import { charStarts, checkText, isUtf8, lineStarts, rowStarts, slices } from './text.ts';
import { cutWave } from './wav.ts';

export interface Piece {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

const essence = (mediaType: string): string => mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
const isWave = (type: string): boolean => /^audio\/(?:x-|vnd\.)?wave?$/.test(type);

/**
 * The part of a piece of content that a selector names, as content of its own. Time in media other than
 * WAV needs `media`, which not every machine has.
 *
 * @throws ThroughlineError `invalid` for a selector that is none or selects nothing that is there;
 *   `unsupported` for one that does not fit the content.
 */
export async function cut(piece: Piece, selector: Selector, media?: CutMedia): Promise<Piece> {
  const selection = selectionOf(selector);
  const type = essence(piece.mediaType);
  if (selection.along === 'json') {
    if (!isJson(piece.mediaType)) throw unfit(selector, type);
    const value = valueAt(piece.bytes, selection.path);
    return whole({ mediaType: 'application/json', bytes: value ?? new Uint8Array() });
  }
  const { along, ranges } = selection;
  if (along === 'second') return whole(await cutTime(piece, { type, ranges, selector }, media));
  if (along !== 'byte') {
    if (!isText(piece.mediaType) || (along === 'row' && type !== 'text/csv')) {
      throw unfit(selector, type);
    }
    checkText(piece.bytes);
  }
  const bytes = along === 'byte' ? bytesIn(piece.bytes, ranges) : units(piece.bytes, along, ranges);
  const isWhole = along !== 'byte' || isStillText(piece, type, bytes);
  return whole({ mediaType: isWhole ? piece.mediaType : 'application/octet-stream', bytes });
}

/** Bytes out of the middle of a picture are no picture, and those of half a character no text. */
const isStillText = (from: Piece, type: string, bytes: Uint8Array): boolean =>
  type.startsWith('text/') && (isUtf8(bytes) || !isUtf8(from.bytes));

const bytesIn = (bytes: Uint8Array, ranges: readonly Range[]): Uint8Array =>
  new Uint8Array(Buffer.concat(ranges.map(([from, to]) => bytes.subarray(from, to))));

const startsOf = { line: lineStarts, char: charStarts, row: rowStarts };

const units = (
  bytes: Uint8Array,
  along: Exclude<Axis, 'byte' | 'second'>,
  ranges: readonly Range[],
): Uint8Array => slices(bytes, startsOf[along](bytes), ranges);

async function cutTime(
  piece: Piece,
  of: { type: string; ranges: readonly Range[]; selector: Selector },
  media: CutMedia | undefined,
): Promise<Piece> {
  const { type, ranges, selector } = of;
  if (isWave(type)) return { ...piece, bytes: cutWave(piece.bytes, ranges) };
  if (!/^(?:audio|video)\//.test(type)) throw unfit(selector, type);
  const [range] = ranges;
  if (media === undefined || range === undefined) {
    throw new ThroughlineError(
      'unsupported',
      'selector: time is cut in WAV alone here; for other media the hub’s machine needs ffmpeg',
    );
  }
  return media(piece, range);
}

function whole(piece: Piece): Piece {
  if (piece.bytes.length > 0) return piece;
  throw new ThroughlineError('invalid', 'selector: selects nothing of this content');
}

const unfit = ({ conformsTo }: Selector, type: string): ThroughlineError =>
  new ThroughlineError('unsupported', `selector: ${conformsTo} does not fit content of ${type}`);
