import { countTokens, tokenizerName, type CountTokens } from '../count-tokens.ts';
import type { CompressOptions } from './report.ts';
import { isAdditiveCut } from './sentences.ts';

/** Counts each text once in a run. */
export interface Counter {
  readonly count: CountTokens;
  /** Counts a text in pieces, from what is known of them where that gives the same. */
  countJoined(pieces: readonly string[]): number;
  readonly name: string;
}

export function makeCounter(options: CompressOptions): Counter {
  const count = options.count ?? countTokens;
  const known = new Map<string, number>();
  const once: CountTokens = (text) => {
    let tokens = known.get(text);
    if (tokens === undefined) known.set(text, (tokens = count(text)));
    return tokens;
  };
  const isBuiltIn = count === countTokens;
  return {
    name: options.tokenizer ?? (isBuiltIn ? tokenizerName : 'unnamed'),
    count: once,
    countJoined: (pieces) =>
      isBuiltIn && pieces.every((piece, at) => isAdditiveCut(pieces[at - 1] ?? '', piece))
        ? pieces.reduce((sum, piece) => sum + once(piece), 0)
        : once(pieces.join('')),
  };
}
