import { compress, countTokens, type CompressedItem, type FetchedItem } from 'throughline/handover';

/** Stands where something was left out. */
export const gap = '[…]';

/** One text of a history. */
export interface Text {
  readonly title: string;
  readonly text: string;
}

/** What goes out for one text: its title and what is left of it; nothing when nothing is left. */
const written = ({ title, text }: Text): string =>
  text === '' ? '' : `${title === '' ? '' : `${title}\n`}${text}\n`;

const counted = new WeakMap<readonly Text[], number>();

/** Tokens of all that goes out; counted once for each list. */
export function tokensOf(texts: readonly Text[]): number {
  const known = counted.get(texts);
  if (known !== undefined) return known;
  const tokens = countTokens(texts.map(written).join('\n'));
  counted.set(texts, tokens);
  return tokens;
}

/** A way to hand a history over for one question, within a share of the tokens of all of it. */
export type HandOver = (history: readonly Text[], question: string, share: number) => Text[];

/** Compresses as an agent does that is given the question as its todo item. */
export const byPolicy: HandOver = (history, question, share) =>
  fit(history, share, (ratio) => {
    const { items } = compress(
      history.map(fetched),
      {
        Strategy: 'target_ratio',
        TargetRatio: ratio,
        LossTolerance: 'low',
        MustPreserveFields: [],
      },
      { queries: [question] },
    );
    return items.map(textOf);
  });

function fetched({ title, text }: Text, at: number): FetchedItem {
  const item = {
    ContextID: `text-${at}`,
    ContextType: 'text' as const,
    MediaType: 'text/plain',
    ContextURI: `https://hub.example/content/text-${at}`,
    Description: title,
    Priority: 'compressible' as const,
  };
  return { item, text };
}

const textOf = ({ item, text = '' }: CompressedItem): Text => ({ title: item.Description, text });

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Sentences drawn by lot, to show what survives by chance. */
export function byLot(seed: number): HandOver {
  return (history, question, share) =>
    fit(history, share, (ratio) => {
      const sentences = history.map(({ text }) =>
        Array.from(segmenter.segment(text), ({ segment }) => segment),
      );
      const places = sentences.flatMap((of, text) => of.map((_, at) => ({ text, at })));
      const next = random(seed + question.length * 7_919);
      const drawn = places
        .map((place) => ({ place, lot: next() }))
        .toSorted((a, b) => a.lot - b.lot);
      let left = ratio * tokensOf(history);
      const kept = history.map(() => new Set<number>());
      for (const { place } of drawn) {
        const tokens = ofSentence(sentences[place.text]?.[place.at] ?? '');
        if (tokens > left) continue;
        left -= tokens;
        kept[place.text]?.add(place.at);
      }
      return history.map(({ title }, text) => ({
        title,
        text: kept[text]?.size === 0 ? '' : withGaps(sentences[text] ?? [], kept[text]),
      }));
    });
}

const known = new Map<string, number>();

function ofSentence(sentence: string): number {
  let tokens = known.get(sentence);
  if (tokens === undefined) known.set(sentence, (tokens = countTokens(sentence)));
  return tokens;
}

const withGaps = (sentences: readonly string[], kept: ReadonlySet<number> | undefined): string =>
  sentences
    .map((sentence, at) => (kept?.has(at) === true ? sentence : gap))
    .join('')
    .replaceAll(/(?:\[…\])+/g, gap);

/** Numerical Recipes' linear congruential generator: the same lots every run. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Lowers the ratio until all that goes out, titles included, is within the share. */
function fit(history: readonly Text[], share: number, attempt: (ratio: number) => Text[]): Text[] {
  const budget = share * tokensOf(history);
  let ratio = share;
  let out = attempt(ratio);
  for (let over = tokensOf(out) - budget; over > 0; over = tokensOf(out) - budget) {
    ratio -= Math.max(over / tokensOf(history), 0.001);
    if (ratio <= 0) return [];
    out = attempt(ratio);
  }
  return out;
}
