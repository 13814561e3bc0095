/** The plan: in each step four readers look at a part of the library each, and one agent chooses. */
import type { WorkflowInput } from 'throughline/master';

export const shelves = ['a', 'b', 'c', 'd'] as const;

/** Paragraph `at` stands on this shelf. */
export const shelfOf = (at: number): string => shelves[at % shelves.length] ?? 'a';

const compression = {
  Strategy: 'target_ratio',
  TargetRatio: 0.5,
  LossTolerance: 'low' as const,
  MustPreserveFields: ['ContextItems[].Description'],
};

/**
 * @param questions One a step, with placeholders for what steps before found.
 * @param paragraphs Names of all paragraphs.
 */
export function workflowOf(
  questions: readonly string[],
  paragraphs: readonly string[],
): WorkflowInput {
  const steps = questions.flatMap((question, at) => {
    const step = at + 1;
    const before = questions.slice(0, at).map((_, earlier) => `passage-${earlier + 1}`);
    const dependsOn = at === 0 ? [] : [`choose-${at}`];
    const reads = shelves.map((shelf) => ({
      id: `read-${step}-${shelf}`,
      name: `Look for it on shelf ${shelf}`,
      goal: `Step ${step}: ${question}`,
      agent: `reader-${shelf}`,
      dependsOn,
      needs: [...before, ...paragraphs.filter((_, place) => shelfOf(place) === shelf)],
      produces: [{ name: `found-${step}-${shelf}`, description: 'Passages that may say it' }],
      todo: [{ id: `found-${step}-${shelf}`, description: question }],
      compression,
    }));
    const choose = {
      id: `choose-${step}`,
      name: 'Choose the passage that says it',
      goal: `Step ${step}: ${question}`,
      agent: 'aggregator',
      dependsOn: reads.map(({ id }) => id),
      needs: [...before, ...shelves.map((shelf) => `found-${step}-${shelf}`)],
      produces: [{ name: `passage-${step}`, description: `What answers step ${step}` }],
      todo: [{ id: `passage-${step}`, description: question }],
      criteria: [
        {
          id: 'shown',
          description: 'It is one of the passages that were found, word for word',
          grade: { by: 'citations' as const, of: { output: `passage-${step}` } },
        },
      ],
    };
    return [...reads, choose];
  });
  return { name: 'Research', interaction: 'AsynchronousContextInteraction', subtasks: steps };
}
