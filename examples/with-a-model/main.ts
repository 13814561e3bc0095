/**
 * A language model everywhere: one plans what the user asks, others do the work of two agents, one
 * judges what came back. Canaries stand wherever an agent has nothing to look for; `--fault leak` hands
 * them out.
 */
import { describeModels } from 'throughline/model';
import { tell } from '../world/story.ts';
import { whyNot } from '../world/world.ts';
import { serveModel } from './model-server.ts';
import { canaries, leaks, toldBy, withAModel } from './play.ts';

await tell({
  checks: ['answers', 'judged', 'leak', 'usage'],
  tell: async ({ world, fault, say }) => {
    await using server = await serveModel({
      answersBadly: fault === 'answers',
      judgesBadly: fault === 'judged',
      keepsNoCount: fault === 'usage',
    });
    const { query, request, cast, master, checks } = await withAModel(server.url);
    await world.inAnotherTenant(`Ours alone: ${canaries['another tenant']}`);
    await world.perform(cast);
    say(`${query}\n`);
    const seen = await world.ask(query, request, {
      ...master,
      ...(fault === 'leak' && { selector: (_, all) => all.map(({ name }) => name) }),
    });
    const { report } = seen;
    for (const { id, name, attempts } of report.subtasks) {
      say(`${id}, ${attempts.at(-1)?.agent ?? 'nobody'}: ${name}`);
    }
    const answers = toldBy(report);
    for (const answer of answers) say(`  ${answer}`);
    const open = whyNot(report);
    if (open !== '') say(`Not completed: ${open}`);
    const { inputTokens, outputTokens } = report.usage;
    say(`\nAs they count, ${describeModels(report.spent) ?? 'models read nothing'}.`);
    const sum = (of: 'inputTokens' | 'outputTokens'): number =>
      server.asked.reduce((all, each) => all + each[of], 0);
    return {
      result: { answers, usage: report.usage },
      checks: [
        ...(await checks(seen)),
        leaks(server.asked, seen.given),
        {
          name: 'usage',
          ok: inputTokens === sum('inputTokens') && outputTokens === sum('outputTokens'),
          saw: { inputTokens, outputTokens, asked: [sum('inputTokens'), sum('outputTokens')] },
        },
      ],
    };
  },
});
