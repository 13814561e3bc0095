/** Two questions over three papers, their answers as the data set has them, and how to tell. */
import { readFileSync } from 'node:fs';
import { parseWorkflow, type OfferedContent } from 'throughline/master';
import { agentContextSchema } from 'throughline/model';
import { z } from 'zod';
import type { Check, Play, Seen } from '../world/story.ts';
import type { Given } from '../world/world.ts';
import { checker, diagnosisSchema, extractor, finder, librarian } from './agents.ts';

const paperSchema = z.object({
  context: z.string(),
  questions: z.array(z.object({ question: z.string(), answer: z.string() })),
});
const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const papers = read('data/papers.jsonl')
  .trimEnd()
  .split('\n')
  .map((line) => paperSchema.parse(JSON.parse(line)));
export const titleOf = ({ context }: { context: string }): string =>
  context.trim().split('\n')[0] ?? '';

const offered = papers.map((paper, at): OfferedContent => ({
  name: `paper-${at + 1}`,
  type: 'document',
  mediaType: 'text/plain',
  description: titleOf(paper),
  content: paper.context,
}));

const workflow = parseWorkflow(read('workflow.yaml'));

const same = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** What the data set says of the two questions, by item. */
const expected = (workflow.subtasks.find(({ id }) => id === 'find')?.todo ?? []).map(
  ({ id, description }) => {
    const paper = papers.find(({ questions }) =>
      questions.some(({ question }) => same(question) === same(description)),
    );
    const entry = paper?.questions.find(({ question }) => same(question) === same(description));
    return { id, answer: entry?.answer ?? '', paper: paper === undefined ? '' : titleOf(paper) };
  },
);

export type Found = z.infer<typeof diagnosisSchema>['found'];

export async function foundBy(output: Seen['output']): Promise<Found> {
  const text = await output('diagnosis').catch(() => '{"found":[]}');
  return diagnosisSchema.parse(JSON.parse(text)).found;
}

/** Each answer says what the data set says, and comes from its paper. */
function answersRight(found: Found): Check {
  const saw = expected.map(({ id, answer, paper }) => {
    const one = found.find(({ itemID }) => itemID === id);
    const right = one?.answer.includes(answer) === true && one.paper === paper;
    return { id, expected: answer, answer: one?.answer, right };
  });
  return { name: 'answers-right', ok: saw.every(({ right }) => right), saw };
}

/** Nothing was begun before what was under way had ended. */
function oneAtATime(saw: readonly string[]): Check {
  const ok = saw.every((step, at) => step.startsWith(at % 2 === 0 ? 'begins' : 'ends'));
  return { name: 'one-at-a-time', ok: ok && saw.length > 0, saw };
}

/** The extractor may fetch the passages and nothing else: no paper as a whole. */
function passagesAlone(given: readonly Given[]): Check {
  const own = given.filter(({ agent, kind }) => agent === 'extractor' && kind === 'context');
  const saw = own.map(({ text }) =>
    agentContextSchema.parse(JSON.parse(text)).ContextItems.map(({ Description }) => Description),
  );
  const ok = saw.length > 0 && saw.every((items) => items.length === 1);
  return { name: 'passages-alone', ok, saw };
}

function cited({ subtasks }: Seen['report']): Check {
  const graded = subtasks.flatMap(({ verdict }) => verdict?.criteria ?? []);
  return {
    name: 'cited',
    ok: graded.some(({ id }) => id === 'cited') && graded.every(({ ok }) => ok),
    saw: graded.map(({ id, ok, reason }) => ({ id, ok, reason })),
  };
}

export const diagnosis = {
  query: `What do the papers say of ${expected.map(({ id }) => id).join(' and ')}?`,
  request: { workflow, offered },
  cast: {
    librarian: { description: 'Lists what there is.', handler: librarian },
    finder: { description: 'Finds passages in papers.', handler: finder },
    extractor: { description: 'Takes answers out of passages.', handler: extractor(false) },
    checker: { description: 'Looks answers up in papers.', handler: checker },
  },
  checks: async ({ report, output, given, steps }) => [
    answersRight(await foundBy(output)),
    oneAtATime(steps),
    passagesAlone(given),
    cited(report),
  ],
} as const satisfies Play;
