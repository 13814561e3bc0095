/** Measures the retrieval over the shared cases. For checks: reads what no agent may read. */
import { bank } from './bank.ts';
import { deskCases, type DeskCase } from './cases.ts';
import { expectedCases, type ExpectedCase } from './expected.ts';
import { search } from './knowledge.ts';
import { retrieve } from './retrieve.ts';

/** Mean recall@20 of the required documents, three ways. */
export interface RetrievalMeasure {
  /** Sub-questions derived from message and holdings. */
  derived: number;
  /** One BM25 query with the whole message, same index. */
  wholeMessage: number;
  /** The best constant list of 20 documents, each case judged by a list made without it. */
  constantLeaveOneOut: number;
  /** `derived / wholeMessage` */
  ratio: number;
  cases: {
    id: string;
    derived: number;
    wholeMessage: number;
    constant: number;
    required: number;
  }[];
}

const depth = 20;
const recall = (found: readonly string[], required: readonly string[]): number =>
  required.filter((id) => found.slice(0, depth).includes(id)).length / required.length;
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The 20 documents that give most recall over these cases: gains add up, so the 20 largest win. */
function bestConstantList(cases: readonly ExpectedCase[]): string[] {
  const gain = new Map<string, number>();
  for (const { requiredDocuments } of cases) {
    for (const id of requiredDocuments) {
      gain.set(id, (gain.get(id) ?? 0) + 1 / requiredDocuments.length);
    }
  }
  const ranked = [...gain].toSorted(([, x], [, y]) => y - x);
  return ranked.slice(0, depth).map(([id]) => id);
}

/** Measures over the given cases (the shared ones by default). */
export function measureRetrieval(
  cases: readonly DeskCase[] = deskCases(),
  expected: readonly ExpectedCase[] = expectedCases(),
): RetrievalMeasure {
  const needs = new Map(expected.map((one) => [one.id, one]));
  const judged = cases.flatMap((one) => {
    const need = needs.get(one.id);
    if (need === undefined || need.requiredDocuments.length === 0) return [];
    const required = need.requiredDocuments;
    const whole = search(one.openingMessage, { limit: depth }).map((hit) => hit.documentId);
    const others = expected.filter((other) => other.id !== one.id);
    const holdings = bank().holdings(one.customer);
    return {
      id: one.id,
      derived: recall(retrieve(one.openingMessage, holdings).ranked, required),
      wholeMessage: recall(whole, required),
      constant: recall(bestConstantList(others), required),
      required: required.length,
    };
  });
  const derived = mean(judged.map((one) => one.derived));
  const wholeMessage = mean(judged.map((one) => one.wholeMessage));
  return {
    derived,
    wholeMessage,
    constantLeaveOneOut: mean(judged.map((one) => one.constant)),
    ratio: derived / wholeMessage,
    cases: judged,
  };
}
