import { Option, type Command } from 'commander';
import { z } from 'zod';
import {
  clientOf,
  command,
  outputOf,
  parseOptions,
  withHub,
  type Surroundings,
} from '../command.ts';
import {
  activityPart,
  caseHead,
  conflictsPart,
  stuckPart,
  truncatedPart,
} from '../views/case-parts.ts';
import { caseTree } from '../views/case-tree.ts';
import { timelineLines } from '../views/timeline.ts';
import { Words } from '../views/words.ts';
import { followCase, readTimeline } from './case-follow.ts';
import { listCommands } from './case-list.ts';
import { caseWorkCommands } from './case-work.ts';

/** `throughline case list | search | show | close | …`. */
export function caseCommand(surroundings: Surroundings): Command {
  const show = withHub(
    command('show', 'One case: what belongs together, and what is stuck', [
      'case show ctx_01h…',
      'case show ctx_01h… --timeline',
      'case show ctx_01h… --timeline --follow',
      'case show ctx_01h… --json | jq .case.tasks',
    ]),
  )
    .argument('<id>', 'contextId or Activity id of the case')
    .addOption(new Option('--tree', 'Activities, Dialogs, Tasks, Resources (the default)'))
    .addOption(new Option('--timeline', 'every assertion in order').conflicts('tree'))
    .addOption(new Option('--follow', 'the timeline, and each new assertion as it comes'))
    .addOption(
      new Option('--activity', 'who takes part in which role').conflicts([
        'tree',
        'timeline',
        'follow',
      ]),
    )
    .action(async (id: string, options: unknown) => {
      await showCase(surroundings, id, options);
    });
  const whole = command('case', 'Look at cases, and keep them in order', [
    'case list',
    'case show ctx_01h…',
    'case label ctx_01h… ticket=1234',
  ]);
  const all = [...listCommands(surroundings), show, ...caseWorkCommands(surroundings)];
  for (const each of all) whole.addCommand(each);
  return whole;
}

const showSchema = z.object({
  timeline: z.boolean().default(false),
  follow: z.boolean().default(false),
  activity: z.boolean().default(false),
});

async function showCase(surroundings: Surroundings, id: string, options: unknown): Promise<void> {
  const { timeline, follow, activity } = parseOptions(showSchema, options);
  const client = clientOf(options);
  const out = outputOf(surroundings, options);
  if (follow) return followCase(client, id, out);
  const view = await client.caseView(id);
  if (out.json && !timeline) {
    out.result({ case: view }, () => []);
    return;
  }
  const words = new Words(view, out.terminal);
  if (timeline) {
    const assertions = await readTimeline(client, id);
    out.result({ case: view.summary, assertions }, () => timelineLines(words, assertions));
  } else {
    out.result({ case: view }, () => caseLines(words, activity));
  }
}

function caseLines(words: Words, activity: boolean): string[] {
  return [
    ...caseHead(words),
    ...stuckPart(words),
    ...(activity ? activityPart(words) : ['', ...caseTree(words)]),
    ...conflictsPart(words),
    ...truncatedPart(words),
  ];
}
