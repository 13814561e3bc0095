import { readFileSync } from 'node:fs';

export interface Hop {
  /** `#1` stands for the answer of the first hop. */
  readonly question: string;
  readonly answer: string;
  readonly paragraph_support_idx: number;
}

/** A question, the paragraphs it is asked over, and how a Master would divide it. */
export interface Chain {
  readonly question: string;
  readonly question_decomposition: readonly Hop[];
  readonly paragraphs: readonly { readonly title: string; readonly paragraph_text: string }[];
}

export interface Paper {
  readonly context: string;
  readonly questions: readonly {
    readonly question: string;
    readonly answer: string;
    /** Place of the answer in the context, in UTF-16 units. */
    readonly start: number;
  }[];
}

const lines = (name: string): string[] =>
  readFileSync(new URL(`data/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');

export const readChains = (): Chain[] =>
  lines('musique-100').map((line): Chain => JSON.parse(line));
export const readPapers = (): Paper[] => lines('covid-qa').map((line): Paper => JSON.parse(line));

/** The weights were tuned on the even records; what is reported was measured on the odd ones. */
export interface Halves<Of> {
  readonly tuned: readonly Of[];
  readonly reported: readonly Of[];
}

export function halves<Of>(all: readonly Of[]): Halves<Of> {
  return {
    tuned: all.filter((_, at) => at % 2 === 0),
    reported: all.filter((_, at) => at % 2 === 1),
  };
}

/** The sub-question as a Master asks it, once the hops before have answered. */
export function subQuestion(chain: Chain, hop: Hop): string {
  return hop.question.replaceAll(
    /#(\d+)/g,
    (mark, number: string) => chain.question_decomposition[Number(number) - 1]?.answer ?? mark,
  );
}

const words = (text: string): string =>
  ` ${text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;

/** The text has the answer, word for word; case, accents and punctuation don't count. */
export const says = (text: string, answer: string): boolean => words(text).includes(words(answer));
