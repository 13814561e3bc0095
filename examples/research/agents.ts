/** The agents: readers that know one shelf each, and one that chooses among what they found. */
import type { AgentHandler, HandlerIo } from 'throughline/agent';
import { countTokens } from 'throughline/handover';
import type { AgentContext } from 'throughline/model';
import { z } from 'zod';
import { best, newNames, type Passage } from '../world/rank.ts';

const passageSchema = z.object({ contextId: z.string(), title: z.string(), quote: z.string() });
const foundSchema = z.object({ passages: z.array(passageSchema) });
export const chosenSchema = z.object({
  question: z.string(),
  passage: passageSchema,
  citations: z.array(z.object({ contextId: z.string(), quote: z.string() })),
});

/** What earlier steps chose, in their order, and what that makes of the question. */
async function earlier(context: AgentContext, io: HandlerIo) {
  const items = context.ContextItems.filter(({ Description }) =>
    Description.startsWith('What answers'),
  );
  const chosen = [];
  for (const { ContextID } of items) {
    chosen.push(chosenSchema.parse(JSON.parse((await io.fetch(ContextID)).text())));
  }
  const question = context.todoItems[0]?.description ?? '';
  const asked = chosen.map((each) => each.question).join(' ');
  const last = chosen.at(-1)?.passage;
  const names = last && newNames({ ...last, quote: `${last.title}. ${last.quote}` }, asked);
  return {
    question,
    query: [question, names].filter(Boolean).join(' '),
    used: new Set(chosen.map(({ passage }) => passage.contextId)),
  };
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Reads its paragraphs as the CompressionPolicy leaves them and gives the passages that say most. */
export const reader: AgentHandler = async (context, io) => {
  const { query, used } = await earlier(context, io);
  const { items } = await io.materials({ queries: [query] });
  const passages = items.flatMap(({ item, text = '' }): Passage[] =>
    used.has(item.ContextID) || item.MediaType !== 'text/plain'
      ? []
      : text
          .split('[…]')
          .flatMap((piece) => Array.from(segmenter.segment(piece), ({ segment }) => segment.trim()))
          .filter((quote) => quote !== '')
          .map((quote) => ({ contextId: item.ContextID, title: item.Description, quote })),
  );
  const found = best(query, passages, 3);
  const output = context.todoItems[0]?.itemID ?? 'found';
  await io.output(output, 'application/json', JSON.stringify({ passages: found }));
  await io.itemDone(output, found[0]?.quote ?? 'Nothing on this shelf says it.');
  return { confidence: found.length > 0 ? 1 : 0.5 };
};

/** Chooses among what all readers found. With `invents` it words the passage anew, as it must not. */
export const aggregator =
  (invents: boolean): AgentHandler =>
  async (context, io) => {
    const { question, query } = await earlier(context, io);
    const candidates: (Passage & { readonly from: string })[] = [];
    for (const { ContextID, Description } of context.ContextItems) {
      if (!Description.startsWith('Passages')) continue;
      const { passages } = foundSchema.parse(JSON.parse((await io.fetch(ContextID)).text()));
      candidates.push(...passages.map((passage) => ({ ...passage, from: ContextID })));
    }
    const [chosen] = best(query, candidates, 1);
    const output = context.todoItems[0]?.itemID ?? 'passage';
    if (chosen === undefined) return { failure: 'No reader found a passage that says it.' };
    const from = candidates.find(({ quote }) => quote === chosen.quote)?.from ?? '';
    const { contextId, title } = chosen;
    const quote = invents ? `It is said that ${chosen.quote}` : chosen.quote;
    // A reader's output is JSON: the citation quotes the passage as it stands there.
    const quoted = JSON.stringify(quote).slice(1, -1);
    const citations = [{ contextId: from, quote: quoted }];
    await io.output(
      output,
      'application/json',
      JSON.stringify({ question, passage: { contextId, title, quote }, citations }),
    );
    await io.itemDone(output, `${title}: ${quote} (${countTokens(quote)} tokens)`);
    return { criteria: [{ id: 'shown', passed: true, evidence: [output, from] }], confidence: 1 };
  };
