/** A request that models plan, work on and judge, with canaries that none of them may read. */
import { readFileSync } from 'node:fs';
import { modelAgent } from 'throughline/agent';
import { modelPlanner, type OfferedContent } from 'throughline/master';
import { criteriaGrader, modelFromEnv, type Model } from 'throughline/models';
import { z } from 'zod';
import type { Check, Play, Seen } from '../world/story.ts';
import type { Asked } from './model-server.ts';

const chainSchema = z.object({
  paragraphs: z.array(z.object({ title: z.string(), paragraph_text: z.string() })),
  question_decomposition: z.array(z.object({ answer: z.string() })),
});
const data = new URL('../research/data/chains.jsonl', import.meta.url);
const { paragraphs, question_decomposition: steps } = chainSchema.parse(
  JSON.parse(readFileSync(data, 'utf8')),
);
/** What the data set says of the two steps that are asked here. */
const expected = steps.slice(1).map(({ answer }) => answer);

const paragraph = (title: string): string =>
  paragraphs.find((each) => each.title === title)?.paragraph_text ?? '';

/** Words that nobody but their owner may read; each stands in one place. */
export const canaries = {
  'the Master’s own notes': 'canary-of-the-master-7f3a',
  'the context of the other subtask': 'canary-of-the-band-91bc',
  'another tenant': 'canary-of-a-stranger-5e0d',
};

const text = (name: string, description: string, content: string): OfferedContent => ({
  name,
  type: 'text',
  mediaType: 'text/plain',
  description,
  content,
});
const offered = [
  text(
    'band',
    'Pearl Jam, the band, where and when it was formed',
    `${paragraph('Pearl Jam')}\n${canaries['the context of the other subtask']}`,
  ),
  text('city', 'Seattle, its snowfall and climate', paragraph('Seattle')),
  text('notes', 'Diary', `Told in confidence: ${canaries['the Master’s own notes']}`),
];

/** A model by its name, as a process finds it that has these variables in its environment. */
async function modelNamed(name: string, url: string): Promise<Model> {
  const env = { THROUGHLINE_MODEL: `local/${name}`, THROUGHLINE_MODEL_URL: url };
  const model = await modelFromEnv(env);
  if (model === undefined) throw new Error('The environment names no model');
  return model;
}

/**
 * Nothing that a model was asked, and nothing that an agent was sent or opened, has a canary: but for the
 * one agent that the band's text was for.
 */
export function leaks(asked: readonly Asked[], given: Seen['given'] = []): Check {
  const read = [
    ...asked.map(({ model, job, prompt }) => ({ who: model, what: job, words: prompt })),
    ...given.map(({ agent, kind, text: words }) => ({ who: agent, what: kind, words })),
  ];
  const found = read.flatMap(({ who, what, words }) =>
    Object.entries(canaries).flatMap(([place, canary]) =>
      words.includes(canary) && !(who === 'musician' && canary.includes('band'))
        ? [`${what} for ${who}: ${place}`]
        : [],
    ),
  );
  const characters = read.reduce((sum, { words }) => sum + words.length, 0);
  return { name: 'leak', ok: found.length === 0 && asked.length > 0, saw: { found, characters } };
}

export const toldBy = ({ subtasks }: Seen['report']): string[] =>
  subtasks.flatMap(({ keyInformation }) =>
    keyInformation.map(({ outputabstract }) => outputabstract),
  );

function answered(answers: readonly string[]): Check {
  const ok = expected.every((words, at) => answers[at]?.includes(words) === true);
  return { name: 'answers', ok, saw: answers };
}

function judged({ subtasks }: Seen['report'], judge: Model): Check {
  const graded = subtasks.flatMap(({ verdict }) => verdict?.criteria ?? []);
  const ok =
    graded.length === expected.length &&
    graded.every((each) => each.ok && each.by === `model ${judge.name}`);
  return { name: 'judged', ok, saw: graded };
}

/** @param url The API at which the models answer. */
export async function withAModel(url: string) {
  const actor = async (id: string, description: string) => ({
    description,
    handler: modelAgent({ model: await modelNamed(id, url), instructions: `You are the ${id}.` }),
  });
  const judge = await modelNamed('judge', url);
  return {
    query:
      'Where was the band Pearl Jam formed and what is the average annual snowfall of Seattle in inches?',
    request: { offered },
    cast: {
      musician: await actor('musician', 'Answers what bands are, where and when they were formed.'),
      meteorologist: await actor(
        'meteorologist',
        'Answers what snowfall, rain and climate a city has.',
      ),
    },
    master: {
      planner: modelPlanner({ model: await modelNamed('planner', url) }),
      grade: criteriaGrader({ model: judge, otherwise: { by: 'model', of: undefined } }),
    },
    checks: ({ report }) => Promise.resolve([answered(toldBy(report)), judged(report, judge)]),
  } satisfies Play;
}
