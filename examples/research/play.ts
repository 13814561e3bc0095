/** A question over 20 paragraphs on four shelves, its answers as the data set has them, and how to tell. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { OfferedContent } from 'throughline/master';
import type { Check, Play, Seen } from '../world/story.ts';
import type { Given } from '../world/world.ts';
import { aggregator, chosenSchema, reader } from './agents.ts';
import { shelfOf, shelves, workflowOf } from './workflow.ts';

const chainSchema = z.object({
  question: z.string(),
  paragraphs: z.array(z.object({ title: z.string(), paragraph_text: z.string() })),
  question_decomposition: z.array(
    z.object({ question: z.string(), answer: z.string(), paragraph_support_idx: z.int() }),
  ),
});
const file = new URL('data/chains.jsonl', import.meta.url);
const chain = chainSchema.parse(JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? ''));
export const steps = chain.question_decomposition;

export const paragraphName = (at: number): string => `paragraph-${at}`;
const offered = chain.paragraphs.map(({ title, paragraph_text: content }, at): OfferedContent => ({
  name: paragraphName(at),
  type: 'text',
  mediaType: 'text/plain',
  description: title,
  content,
}));

type Chosen = z.infer<typeof chosenSchema>;

/** What each step chose; undefined where it came to nothing. */
export async function chosenBy(output: Seen['output']): Promise<(Chosen | undefined)[]> {
  const chosen: (Chosen | undefined)[] = [];
  for (const at of steps.keys()) {
    const text = await output(`passage-${at + 1}`).catch(() => undefined);
    chosen.push(text === undefined ? undefined : chosenSchema.parse(JSON.parse(text)));
  }
  return chosen;
}

/** Each step chose the paragraph that holds the answer, and a sentence with it. */
function answersFound(chosen: readonly (Chosen | undefined)[]): Check {
  const saw = steps.map(({ answer, paragraph_support_idx: place }, at) => {
    const passage = chosen[at]?.passage;
    const { title } = chain.paragraphs[place] ?? {};
    const says = `${passage?.title ?? ''} ${passage?.quote ?? ''}`.includes(answer);
    return { answer, passage: passage?.quote, ok: says && passage?.title === title };
  });
  return { name: 'answers-found', ok: saw.every(({ ok }) => ok), saw };
}

/** No reader was given, or fetched, a paragraph of another shelf. */
function ownShelfOnly(given: readonly Given[]): Check {
  const saw = shelves.flatMap((shelf) => {
    const texts = given.filter(({ agent }) => agent === `reader-${shelf}`);
    return chain.paragraphs.flatMap(({ paragraph_text: text }, at) =>
      shelfOf(at) !== shelf && texts.some((each) => each.text.includes(text))
        ? [`reader-${shelf}: ${paragraphName(at)}`]
        : [],
    );
  });
  return { name: 'own-shelf-only', ok: saw.length === 0 && given.length > 0, saw };
}

function wordForWord({ subtasks }: Seen['report']): Check {
  const graded = subtasks.flatMap(({ verdict }) => verdict?.criteria ?? []);
  return {
    name: 'word-for-word',
    ok: graded.length === steps.length && graded.every(({ ok }) => ok),
    saw: graded.map(({ ok, reason }) => ({ ok, reason })),
  };
}

const readers = shelves.map((shelf) => {
  const description = `Reads the paragraphs on shelf ${shelf}.`;
  return [`reader-${shelf}`, { description, handler: reader }] as const;
});
const planned = workflowOf(
  steps.map(({ question }) => question),
  offered.map(({ name }) => name),
);

export const research = {
  query: chain.question,
  request: {
    workflow: {
      ...planned,
      subtasks: planned.subtasks.map((subtask) => ({ ...subtask, attempts: 1 })),
    },
    offered,
  },
  cast: {
    ...Object.fromEntries(readers),
    aggregator: {
      description: 'Chooses among what readers found.',
      handler: aggregator(false),
    },
  },
  master: { parallel: shelves.length },
  checks: async ({ report, output, given }) => [
    answersFound(await chosenBy(output)),
    ownShelfOnly(given),
    wordForWord(report),
  ],
} satisfies Play;
