/**
 * A server that speaks the OpenAI-compatible API on loopback. What answers is no language model but
 * plain code that does the work asked for by comparing words, so that the example gives the same every
 * time. A real model is asked in the same way, by the same variables of the environment.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { best, type Passage } from '../world/rank.ts';

const requestSchema = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  response_format: z.object({ json_schema: z.object({ name: z.string() }) }),
});

/** What was asked, with all that the model was given to read. */
export interface Asked {
  readonly model: string;
  readonly job: string;
  readonly prompt: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What is to go wrong on purpose. */
export interface Moods {
  readonly answersBadly?: boolean;
  readonly judgesBadly?: boolean;
  readonly keepsNoCount?: boolean;
}

const planRequestSchema = z.object({
  request: z.string(),
  agents: z.array(z.object({ id: z.string(), description: z.string() })),
  items: z.array(z.object({ name: z.string(), description: z.string() })),
});

const asPassages = (quotes: readonly string[]): Passage[] =>
  quotes.map((quote) => ({ contextId: '', title: '', quote }));

/** Divides a request at its “and”, and gives each part to whom its words are about. */
function plan(prompt: string): unknown {
  const { request, agents, items } = planRequestSchema.parse(JSON.parse(prompt));
  const parts = request.split(/,? and (?=what|where|who|when|how)/i);
  const subtasks = parts.map((part, at) => {
    const [described] = best(part, asPassages(agents.map(({ description }) => description)), 1);
    const agent = agents.find(({ description }) => description === described?.quote) ?? agents[0];
    const [about] = best(part, asPassages(items.map(({ description }) => description)), 1);
    return {
      id: `part-${at + 1}`,
      name: part,
      goal: part,
      agent: agent?.id ?? '',
      dependsOn: [],
      needs: items.filter((item) => item.description === about?.quote).map(({ name }) => name),
      produces: [],
      todo: [{ id: `answer-${at + 1}`, description: part }],
      criteria: [{ id: `to-the-point-${at + 1}`, description: 'It answers what was asked' }],
    };
  });
  return { name: 'Divided', description: request, subtasks };
}

/** What stands between lines of quoted data, by the name in the line above. */
const quotedIn = (prompt: string): { name: string; body: string }[] =>
  Array.from(
    prompt.matchAll(/^-+ begin quoted data: (.+?) -+\n([^]*?)\n-+ end quoted data/gm),
    ([, name = '', body = '']) => ({ name, body }),
  );

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The texts of quoted material, each by the number in the line above; not what is named only. */
function materialsIn(prompt: string): { name: string; body: string }[] {
  const material = quotedIn(prompt).find(({ name }) => name === 'material')?.body ?? '';
  const [given = ''] = material.split(/^-{5,} named only\n/m);
  const texts = given.split(/^-{5,} (\d+): .*\n/m).slice(1);
  return texts.flatMap((name, at) =>
    at % 2 === 0 ? [{ name, body: texts[at + 1]?.trimEnd() ?? '' }] : [],
  );
}

/** For each item the sentence of the material that says most of it. */
function answers(prompt: string, badly: boolean): unknown {
  const sentences = materialsIn(prompt).flatMap(({ name, body }) =>
    Array.from(segmenter.segment(body), ({ segment }): Passage => ({
      contextId: name,
      title: '',
      quote: segment.trim(),
    })),
  );
  const [, list = ''] = /^Do:\n((?:- .*\n)+)/m.exec(prompt) ?? [];
  const items = Array.from(list.matchAll(/^- ([^:]+): (.+)$/gm));
  return {
    answers: items.map(([, itemID = '', question = '']) => {
      const found = best(question, sentences, sentences.length);
      const top = badly ? found.at(-1) : found[0];
      const citations = top ? [{ contextId: top.contextId, quote: top.quote }] : [];
      return { itemID, answer: top?.quote ?? '', citations };
    }),
    confidence: 0.8,
  };
}

/** Met when the result shares enough words with what was to be done. */
function judgement(prompt: string): unknown {
  const [todo, result] = quotedIn(prompt);
  const shared = best(todo?.body ?? '', asPassages([result?.body ?? '']), 1).length;
  return { met: shared > 0, reason: shared > 0 ? 'it speaks of what was asked' : 'it does not' };
}

const words = (of: string): number => of.split(/\s+/).filter((word) => word !== '').length;

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly Asked[];
}

export async function serveModel(moods: Moods): Promise<ModelServer> {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const {
      model,
      messages,
      response_format: format,
    } = requestSchema.parse(JSON.parse(await text(request)));
    const prompt = messages.find(({ role }) => role === 'user')?.content ?? '';
    const all = messages.map(({ content: each }) => each).join('\n');
    const job = format.json_schema.name;
    const value =
      job === 'plan'
        ? plan(prompt)
        : job === 'answers'
          ? answers(prompt, moods.answersBadly === true)
          : moods.judgesBadly === true
            ? { met: false, reason: 'I am never content' }
            : judgement(prompt);
    const content = JSON.stringify(value);
    const [inputTokens, outputTokens] = [words(all), words(content)];
    asked.push({ model, job, prompt: all, inputTokens, outputTokens });
    const message = { role: 'assistant', content };
    const usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: `answer-${asked.length}`,
        created: 0,
        model,
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        ...(moods.keepsNoCount !== true && { usage }),
      }),
    );
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(400).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
