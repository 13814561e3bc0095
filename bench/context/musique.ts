import { says, subQuestion, type Chain } from './data.ts';
import { tokensOf, type HandOver, type Text } from './hand-over.ts';

/** Shares of chains; a chain counts when every hop was handed what it needs. */
export interface ChainsKept {
  /** The answer of every hop is somewhere in what that hop was handed. */
  readonly kept: number;
  /** It is there in its own paragraph: not by chance in another. */
  readonly inPlace: number;
  /** Tokens handed over ÷ tokens of the full history, over all hops. */
  readonly tokens: number;
  readonly mostTokens: number;
}

/**
 * @param whole The user's question is asked instead of each hop's: what compressing once would keep.
 */
export function measureChains(
  chains: readonly Chain[],
  share: number,
  handOver: HandOver,
  whole = false,
): ChainsKept {
  let [kept, inPlace, hops, tokens, mostTokens] = [0, 0, 0, 0, 0];
  for (const chain of chains) {
    const history = chain.paragraphs.map(({ title, paragraph_text: text }): Text => ({
      title,
      text,
    }));
    const all = tokensOf(history);
    let [isKept, isInPlace] = [true, true];
    for (const hop of chain.question_decomposition) {
      const question = whole ? chain.question : subQuestion(chain, hop);
      const out = handOver(history, question, share).filter(({ text }) => text !== '');
      const own = history[hop.paragraph_support_idx]?.title ?? '';
      const has = ({ title, text }: Text): boolean => says(`${title}\n${text}`, hop.answer);
      isKept &&= out.some(has);
      isInPlace &&= out.filter(({ title }) => title === own).some(has);
      hops += 1;
      tokens += tokensOf(out) / all;
      mostTokens = Math.max(mostTokens, tokensOf(out) / all);
    }
    kept += Number(isKept);
    inPlace += Number(isInPlace);
  }
  return {
    kept: kept / chains.length,
    inPlace: inPlace / chains.length,
    tokens: tokens / hops,
    mostTokens,
  };
}
