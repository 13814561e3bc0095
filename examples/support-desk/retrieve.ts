/** One search per sub-question, merged into one ranked list. */
import type { Holdings } from './bank.ts';
import { search, type Hit } from './knowledge.ts';
import { groupOf, isProcedure } from './products.ts';
import { deriveSubQuestions, type SubQuestion } from './sub-questions.ts';

/** What was found for one sub-question, best first. */
export interface Finding {
  question: SubQuestion;
  hits: Hit[];
}

/** The outcome of a retrieval. */
export interface Retrieval {
  findings: Finding[];
  /** Document ids over all sub-questions, merged round-robin, best first. */
  ranked: string[];
}

function within(about: SubQuestion['about']): ((documentId: string) => boolean) | undefined {
  if (about === 'anything') return undefined;
  if (about === 'procedures') return isProcedure;
  return (documentId) => groupOf(documentId) === about.product;
}

/** Takes the best hit not yet taken of each list in turn, until nothing is left. */
export function roundRobin(lists: readonly (readonly string[])[]): string[] {
  const merged = new Set<string>();
  const places = lists.map(() => 0);
  let progress = true;
  while (progress) {
    progress = false;
    for (const [index, list] of lists.entries()) {
      let place = places[index] ?? 0;
      while (place < list.length && merged.has(list[place] ?? '')) place += 1;
      const next = list[place];
      if (next !== undefined) {
        merged.add(next);
        progress = true;
      }
      places[index] = place + 1;
    }
  }
  return [...merged];
}

/** One thing done wrong on purpose, for whoever checks the checks: what fits worst comes first. */
const isWorstFirst = (): boolean => process.env['SUPPORT_DESK_FAULT'] === 'worst-first';

/** Searches each sub-question and merges. `depth`: hits kept per question. */
export function lookUp(questions: readonly SubQuestion[], depth = 10): Retrieval {
  const findings = questions.map((question) => {
    const filter = within(question.about);
    const options = filter === undefined ? {} : { within: filter };
    return { question, hits: search(question.text, { limit: depth, ...options }) };
  });
  const lists = findings.map(({ hits }) => {
    const ids = hits.map((hit) => hit.documentId);
    return isWorstFirst() ? ids.toReversed() : ids;
  });
  return { findings, ranked: roundRobin(lists) };
}

/** Derives the sub-questions of a message, then looks them up. */
export function retrieve(message: string, holdings: Holdings): Retrieval {
  return lookUp(deriveSubQuestions(message, holdings));
}
