import { compress, countTokens, type FetchedItem } from 'throughline/handover';

export interface Speed {
  /**
   * Megabytes of UTF-8 per second of processor time (so that a busy machine does not count); the median
   * of the turns, with the slowest and the fastest.
   */
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

const turns = 9;

/** Compresses all texts to a quarter, counting included, and counts them alone; in turns. */
export function measureSpeed(
  texts: readonly { readonly text: string; readonly question: string }[],
  mediaType: string,
): { readonly compressing: Speed; readonly counting: Speed } {
  const megabytes = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) / 1e6;
  const items = texts.map(({ text }, at): FetchedItem => ({ item: item(at, mediaType), text }));
  const policy = {
    Strategy: 'target_ratio',
    TargetRatio: 0.25,
    LossTolerance: 'low' as const,
    MustPreserveFields: [],
  };
  const compressing: number[] = [];
  const counting: number[] = [];
  for (let turn = 0; turn <= turns; turn++) {
    const compressed = secondsOf(() => {
      for (const [at, each] of items.entries()) {
        compress([each], policy, { queries: [texts[at]?.question ?? ''] });
      }
    });
    const justCounted = secondsOf(() => {
      for (const { text } of texts) countTokens(text);
    });
    if (turn === 0) continue;
    compressing.push(megabytes / compressed);
    counting.push(megabytes / justCounted);
  }
  return { compressing: speed(compressing), counting: speed(counting) };
}

function secondsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

const item = (at: number, mediaType: string): FetchedItem['item'] => ({
  ContextID: `text-${at}`,
  ContextType: 'text',
  MediaType: mediaType,
  ContextURI: `https://hub.example/content/text-${at}`,
  Description: '',
  Priority: 'compressible',
});

function speed(values: readonly number[]): Speed {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: sorted[Math.floor(sorted.length / 2)] ?? 0,
    least: sorted[0] ?? 0,
    most: sorted.at(-1) ?? 0,
  };
}
