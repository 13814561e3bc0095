import { createHash } from 'node:crypto';
import { ThroughlineError } from '../../errors.ts';
import {
  badLine,
  endSchema,
  lineBytes,
  lineDepth,
  lineSchema,
  mostLines,
  parseHeader,
  problemOf,
  type Line,
} from './lines.ts';

/** Opens the file from its beginning; called once for each pass. */
export type OpenFile = () => AsyncIterable<Uint8Array>;

export interface ReadLine {
  readonly line: Line;
  /** Number in the file, from 1. */
  readonly at: number;
  /** Bytes, the line feed included. */
  readonly size: number;
}

/**
 * Lines of an export between its header and its end, each checked by itself. Throws at the first that is
 * not as it should be, and at the end where lines are missing or were changed.
 */
export async function* readLines(open: OpenFile): AsyncGenerator<ReadLine> {
  const digest = createHash('sha256');
  let at = 0;
  let isOver = false;
  for await (const bytes of splitLines(open())) {
    at += 1;
    if (isOver) throw badLine(at, 'is behind the end');
    if (at > mostLines) throw tooLarge(at, `the file has more than ${mostLines} lines`);
    const value = parseJson(bytes, at);
    const end = endSchema.safeParse(value);
    if (at === 1) {
      if (parseHeader(value).holds === 'shape') throw shapeOnly();
    } else if (end.success) {
      isOver = true;
      if (end.data.lines !== at - 1 || end.data.digest !== digest.copy().digest('hex')) {
        throw badLine(at, 'the end tells of other lines: some were changed, added or lost');
      }
    } else {
      const line = lineSchema.safeParse(value);
      if (!line.success) throw badLine(at, problemOf(line.error));
      yield { line: line.data, at, size: bytes.length };
    }
    digest.update(bytes);
  }
  if (!isOver) throw badLine(at + 1, 'the file ends before its end: it was cut off');
}

function parseJson(bytes: Uint8Array, at: number): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badLine(at, 'is not UTF-8');
  }
  if (depthOf(text) > lineDepth) throw tooLarge(at, `is over ${lineDepth} levels deep`);
  try {
    return JSON.parse(text);
  } catch {
    throw badLine(at, 'is not JSON');
  }
}

/** Without parsing, so that no parser meets what is too deep for it. */
function depthOf(text: string): number {
  let [depth, deepest, isText] = [0, 0, false];
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (isText && char === '\\') i += 1;
    else if (char === '"') isText = !isText;
    else if (isText) continue;
    else if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1));
    else if (char === ']' || char === '}') depth -= 1;
  }
  return deepest;
}

const lineFeed = 0x0a;

/** Each with its line feed; what follows the last is a line of its own. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let at = 1;
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(lineFeed); to !== -1; to = chunk.indexOf(lineFeed, from)) {
      const rest = chunk.subarray(from, to + 1);
      if (size + rest.length > lineBytes) throw tooLong(at);
      yield parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
      [parts, size, from, at] = [[], 0, to + 1, at + 1];
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > lineBytes) throw tooLong(at);
  }
  if (size > 0) yield Buffer.concat(parts);
}

const tooLong = (at: number): ThroughlineError => tooLarge(at, `is over ${lineBytes} bytes`);

const tooLarge = (line: number, problem: string): ThroughlineError =>
  new ThroughlineError('too-large', `line ${line}: ${problem}; nothing of the file was written`, {
    details: { line },
  });

const shapeOnly = (): ThroughlineError =>
  new ThroughlineError(
    'unsupported',
    'line 1: the file holds shapes alone, and nothing that could be taken in; export without --shape-only',
    { details: { line: 1 } },
  );
