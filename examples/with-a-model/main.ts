/**
 * A language model everywhere: one plans what the user asks, others do the work of two agents, one
 * judges what came back. Canaries stand wherever an agent has nothing to look for; `--fault leak` hands
 * them out.
 */
import { readFileSync } from 'node:fs';
import { modelAgent } from 'throughline/agent';
import { modelPlanner, type OfferedContent } from 'throughline/master';
import { criteriaGrader, modelFromEnv, type Model } from 'throughline/models';
import { z } from 'zod';
import { tell, type Check } from '../world/story.ts';
import { whyNot } from '../world/world.ts';
import { serveModel, type Asked } from './model-server.ts';

const query =
  'Where was the band Pearl Jam formed and what is the average annual snowfall of Seattle in inches?';
const expected = ['Seattle, Washington', '6.8 inches'];

const chainSchema = z.object({
  paragraphs: z.array(z.object({ title: z.string(), paragraph_text: z.string() })),
});
const data = new URL('../research/data/chains.jsonl', import.meta.url);
const { paragraphs } = chainSchema.parse(JSON.parse(readFileSync(data, 'utf8')));
const paragraph = (title: string): string =>
  paragraphs.find((each) => each.title === title)?.paragraph_text ?? '';

/** Words that nobody but their owner may read; each stands in one place. */
const canaries = {
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

/** No prompt has a canary but those of the one agent that the band's text was for. */
function leaks(asked: readonly Asked[]): Check {
  const found = asked.flatMap(({ model, job, prompt }) =>
    Object.entries(canaries).flatMap(([place, canary]) =>
      prompt.includes(canary) && !(model === 'musician' && canary.includes('band'))
        ? [`${job} by ${model}: ${place}`]
        : [],
    ),
  );
  const characters = asked.reduce((sum, { prompt }) => sum + prompt.length, 0);
  return { name: 'leak', ok: found.length === 0 && characters > 0, saw: { found, characters } };
}

await tell({
  checks: ['answers', 'leak', 'judged', 'usage'],
  tell: async ({ world, fault, say }) => {
    await using server = await serveModel({
      answersBadly: fault === 'answers',
      judgesBadly: fault === 'judged',
      keepsNoCount: fault === 'usage',
    });
    const model = (name: string): Promise<Model> => modelNamed(name, server.url);
    await world.inAnotherTenant(`Ours alone: ${canaries['another tenant']}`);
    for (const [id, what] of [
      ['musician', 'Answers what bands are, where and when they were formed.'],
      ['meteorologist', 'Answers what snowfall, rain and climate a city has.'],
    ] as const) {
      const instructions = `You are the ${id}.`;
      await world.agent(id, what, modelAgent({ model: await model(id), instructions }));
    }
    say(`${query}\n`);
    const judge = await model('judge');
    const { report } = await world.ask(
      query,
      { offered },
      {
        planner: modelPlanner({ model: await model('planner') }),
        grade: criteriaGrader({ model: judge, otherwise: { by: 'model', of: undefined } }),
        ...(fault === 'leak' && { selector: (_, all) => all.map(({ name }) => name) }),
      },
    );
    const told = report.subtasks.flatMap(({ keyInformation }) => keyInformation);
    for (const { id, name, attempts } of report.subtasks) {
      say(`${id}, ${attempts.at(-1)?.agent ?? 'nobody'}: ${name}`);
    }
    for (const { outputabstract } of told) say(`  ${outputabstract}`);
    const open = whyNot(report);
    if (open !== '') say(`Not completed: ${open}`);
    const { inputTokens, outputTokens } = report.usage;
    say(`\nModels read ${inputTokens} tokens and wrote ${outputTokens}, as they count.`);
    const graded = report.subtasks.flatMap(({ verdict }) => verdict?.criteria ?? []);
    const sum = (of: 'inputTokens' | 'outputTokens'): number =>
      server.asked.reduce((all, each) => all + each[of], 0);
    const answers = told.map(({ outputabstract }) => outputabstract);
    return {
      result: { answers, usage: report.usage },
      checks: [
        {
          name: 'answers',
          ok: expected.every((words, at) => answers[at]?.includes(words) === true),
          saw: answers,
        },
        leaks(server.asked),
        {
          name: 'judged',
          ok:
            graded.length === expected.length &&
            graded.every(({ ok, by }) => ok && by === `model ${judge.name}`),
          saw: graded,
        },
        {
          name: 'usage',
          ok: inputTokens === sum('inputTokens') && outputTokens === sum('outputTokens'),
          saw: { inputTokens, outputTokens, asked: [sum('inputTokens'), sum('outputTokens')] },
        },
      ],
    };
  },
});
