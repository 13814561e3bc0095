/** The agents of the chain: each gets what the one before put out, and knows nothing of the others. */
import type { AgentHandler, HandlerIo } from 'throughline/agent';
import type { AgentContext } from 'throughline/model';
import { z } from 'zod';
import { best, type Passage } from '../world/rank.ts';

const answersSchema = z.object({
  answers: z.array(
    z.object({
      itemID: z.string(),
      answer: z.string(),
      citations: z.array(z.object({ contextId: z.string(), quote: z.string() })),
    }),
  ),
});
export const diagnosisSchema = z.object({
  found: z.array(z.object({ itemID: z.string(), answer: z.string(), paper: z.string() })),
});

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const sentencesOf = (text: string): string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment.trim()).filter(
    (each) => each !== '',
  );

/** Lists titles: all that it needs stands in the descriptions. */
export const librarian: AgentHandler = async (context, io) => {
  const titles = context.ContextItems.map(({ Description }) => Description).join('\n');
  await io.output('catalogue', 'text/plain', titles);
  await io.itemDone('catalogue', titles);
};

/** Reads the papers as the CompressionPolicy leaves them: what is left is what bears on the questions. */
export const finder: AgentHandler = async (context, io) => {
  const { items } = await io.materials();
  const passages = items.map(({ item, text = '' }) => `# ${item.Description}\n\n${text}`);
  await io.output('passages', 'text/markdown', passages.join('\n\n'));
  for (const { itemID } of context.todoItems) {
    await io.itemDone(
      itemID,
      `${passages.length} papers were read; passages holds what bears on it.`,
    );
  }
};

/** Takes for each question the sentence that says most of it. With `invents` it cites what is not there. */
export const extractor =
  (invents: boolean): AgentHandler =>
  async (context, io) => {
    const found = context.ContextItems.find(({ MediaType }) => MediaType === 'text/markdown');
    const fetched = await io.fetch(found?.ContextID ?? '');
    const { item: passages } = fetched;
    const candidates = fetched
      .text()
      .split(/\[…\]|\n+/)
      .flatMap(sentencesOf)
      .map((quote): Passage => ({ contextId: passages.ContextID, title: '', quote }));
    const answers = context.todoItems.map(({ itemID, description }) => {
      const [top] = best(description, candidates, 1);
      const answer = top?.quote ?? '';
      const quote = invents ? `Reportedly, ${answer}` : answer;
      return { itemID, answer, citations: [{ contextId: passages.ContextID, quote }] };
    });
    await io.output('answers', 'application/json', JSON.stringify({ answers }));
    for (const { itemID, answer } of answers) await io.itemDone(itemID, answer);
    const evidence = ['answers', passages.ContextID];
    return {
      criteria: ['form', 'cited'].map((id) => ({ id, passed: true, evidence })),
      confidence: 0.9,
    };
  };

/** Looks each answer up in the whole papers. */
export const checker: AgentHandler = async (context, io) => {
  const { answers, papers } = await given(context, io);
  const found = answers.map(({ itemID, answer }) => ({
    itemID,
    answer,
    paper: papers.find(({ text }) => text.includes(answer))?.title ?? 'not found',
  }));
  await io.output('diagnosis', 'application/json', JSON.stringify({ found }));
  await io.itemDone('lookup', found.map(({ itemID, paper }) => `${itemID}: ${paper}`).join('\n'));
  const passed = found.every(({ paper }) => paper !== 'not found');
  return {
    criteria: [{ id: 'papers', passed, evidence: ['diagnosis', ...papers.map(({ id }) => id)] }],
    confidence: passed ? 1 : 0,
  };
};

async function given(context: AgentContext, io: HandlerIo) {
  const papers: { id: string; title: string; text: string }[] = [];
  let answers: z.infer<typeof answersSchema>['answers'] = [];
  for (const { ContextID: id, MediaType, Description: title } of context.ContextItems) {
    const text = (await io.fetch(id)).text();
    if (MediaType === 'application/json') ({ answers } = answersSchema.parse(JSON.parse(text)));
    else papers.push({ id, title, text });
  }
  return { answers, papers };
}
