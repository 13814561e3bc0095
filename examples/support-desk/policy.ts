/** What the policy reader does with a case: read the message, look up, pick the spans. */
import type { Holdings } from './bank.ts';
import { retrieve, type Retrieval } from './retrieve.ts';
import { readMessage, type Reading } from './sub-questions.ts';
import { findPassages, findProcedures, findTerms, type Passage, type Term } from './terms.ts';

/** The policy reader's findings, spans only: no document leaves it whole. */
export interface Policy {
  reading: Reading;
  retrieval: Retrieval;
  /** Whether the case asks for the rewards of card purchases to be recomputed. */
  needsCheck: boolean;
  /** Empty where no check is needed. */
  terms: Term[];
  passages: Passage[];
  procedures: Passage[];
}

/** Reads a case. Needs the message and the kinds of product held, nothing else of the customer. */
export function readPolicy(message: string, holdings: Holdings): Policy {
  const reading = readMessage(message, holdings);
  const retrieval = retrieve(message, holdings);
  const needsCheck = reading.intents.includes('cash back looks wrong');
  return {
    reading,
    retrieval,
    needsCheck,
    terms: needsCheck ? findTerms(retrieval, holdings.cards) : [],
    passages: findPassages(message, retrieval),
    procedures: findProcedures(retrieval),
  };
}
