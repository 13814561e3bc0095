import type { Paper } from './data.ts';
import { gap, tokensOf, type HandOver } from './hand-over.ts';

/** Shares of questions. */
export interface FactsKept {
  /** The answer is somewhere in what is left. */
  readonly kept: number;
  /** The sentences that hold it are left, where the annotators marked it. */
  readonly inPlace: number;
  readonly tokens: number;
  readonly mostTokens: number;
}

export function measureFacts(
  papers: readonly Paper[],
  share: number,
  handOver: HandOver,
): FactsKept {
  let [kept, inPlace, questions, tokens, mostTokens] = [0, 0, 0, 0, 0];
  for (const { context, questions: asked } of papers) {
    const history = [{ title: '', text: context }];
    const all = tokensOf(history);
    for (const { question, answer, start } of asked) {
      const out = handOver(history, question, share);
      const text = out[0]?.text ?? '';
      const fact = answer.trimEnd();
      kept += Number(text.includes(fact));
      inPlace += Number(isLeft(text, context, start, start + fact.length));
      tokens += tokensOf(out) / all;
      mostTokens = Math.max(mostTokens, tokensOf(out) / all);
      questions += 1;
    }
  }
  return {
    kept: kept / questions,
    inPlace: inPlace / questions,
    tokens: tokens / questions,
    mostTokens,
  };
}

/** The range of the source is in one of the stretches that are left of it, in their order. */
function isLeft(text: string, source: string, start: number, end: number): boolean {
  let at = 0;
  for (const stretch of text.split(gap).map((each) => each.trim())) {
    const from = source.indexOf(stretch, at);
    at = from + stretch.length;
    if (from <= start && end <= at) return true;
  }
  return false;
}
