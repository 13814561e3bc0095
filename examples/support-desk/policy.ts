/** What the policy reader does with a case: look the questions up, pick the spans. */
import type { Holdings } from './bank.ts';
import { lookUp, type Retrieval } from './retrieve.ts';
import { deriveSubQuestions, type SubQuestion } from './sub-questions.ts';
import { findPassages, findProcedures, findTerms, type Passage, type Term } from './terms.ts';

/** The policy reader's findings, spans only: no document leaves it whole. */
export interface Policy {
  retrieval: Retrieval;
  /** Whether the case asks for the rewards of card purchases to be recomputed. */
  needsCheck: boolean;
  /** Empty where no check is needed. */
  terms: Term[];
  passages: Passage[];
  procedures: Passage[];
}

/** Whether the questions ask for the rewards of card purchases to be recomputed. */
export const needsCheck = (questions: readonly SubQuestion[]): boolean =>
  questions.some(({ intent }) => intent === 'cash back looks wrong');

/** Answers sub-questions. Needs the message and the kinds of product held, nothing else. */
export function answerQuestions(
  message: string,
  questions: readonly SubQuestion[],
  holdings: Holdings,
): Policy {
  const retrieval = lookUp(questions);
  const check = needsCheck(questions);
  return {
    retrieval,
    needsCheck: check,
    terms: check ? findTerms(retrieval, holdings.cards) : [],
    passages: findPassages(message, retrieval),
    procedures: findProcedures(retrieval),
  };
}

/** The same from the message alone. */
export const readPolicy = (message: string, holdings: Holdings): Policy =>
  answerQuestions(message, deriveSubQuestions(message, holdings), holdings);
