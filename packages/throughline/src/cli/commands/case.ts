import { Option, type Command } from 'commander';
import { z } from 'zod';
import type { HubClient } from '../../client/index.ts';
import { ThroughlineError } from '../../errors.ts';
import type { Assertion } from '../../model/assertion.ts';
import type { CaseSummary } from '../../model/case-view.ts';
import { limits } from '../../model/limits.ts';
import {
  clientOf,
  command,
  outputOf,
  parseOptions,
  withHub,
  type Surroundings,
} from '../command.ts';
import type { Output } from '../output.ts';
import { table } from '../table.ts';
import { clean } from '../terminal.ts';
import { activityPart, caseHead, conflictsPart, stuckPart } from '../views/case-parts.ts';
import { caseTree } from '../views/case-tree.ts';
import { timelineLines } from '../views/timeline.ts';
import { moment, Words } from '../views/words.ts';

const listSchema = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(20),
});

/** `throughline case list | show`. */
export function caseCommand(surroundings: Surroundings): Command {
  const list = withHub(
    command('list', 'Cases that one may see, latest first', ['case list', 'case list --json']),
  )
    .option('--limit <n>', 'cases at most', '20')
    .action(async (options: unknown) => {
      const { limit } = parseOptions(listSchema, options);
      const found = await readCases(clientOf(options), limit);
      const out = outputOf(surroundings, options);
      out.result(found, () => listLines(out, found));
    });
  const show = withHub(
    command('show', 'One case: what belongs together, and what is stuck', [
      'case show ctx_01h…',
      'case show ctx_01h… --timeline',
      'case show ctx_01h… --json | jq .case.tasks',
    ]),
  )
    .argument('<id>', 'contextId or Activity id of the case')
    .addOption(new Option('--tree', 'Activities, Dialogs, Tasks, Resources (the default)'))
    .addOption(new Option('--timeline', 'every assertion in order').conflicts('tree'))
    .addOption(
      new Option('--activity', 'who takes part in which role').conflicts(['tree', 'timeline']),
    )
    .action(async (id: string, options: unknown) => {
      await showCase(surroundings, id, options);
    });
  return command('case', 'Look at cases', ['case list', 'case show ctx_01h…'])
    .addCommand(list)
    .addCommand(show);
}

interface Cases extends Record<string, unknown> {
  readonly cases: readonly CaseSummary[];
  /** There are more than were asked for. */
  readonly more: boolean;
}

async function readCases(client: HubClient, limit: number): Promise<Cases> {
  const cases: CaseSummary[] = [];
  let cursor: string | undefined;
  do {
    const pageSize = Math.min(limit - cases.length, limits.pageSize);
    const page = await client.cases({ pageSize, ...(cursor === undefined ? {} : { cursor }) });
    cases.push(...page.cases);
    cursor = page.cursor;
  } while (cursor !== undefined && cases.length < limit);
  return { cases, more: cursor !== undefined };
}

function listLines({ terminal }: Output, { cases, more }: Cases): string[] {
  if (cases.length === 0) return ['No cases yet.'];
  const columns = [
    { title: 'CASE' },
    { title: 'CHANGED' },
    { title: 'TASKS', align: 'right' },
    { title: 'STUCK', align: 'right' },
    { title: 'OWNER', optional: true },
    { title: 'ABOUT', flexible: true },
  ] as const;
  // Whole ids here, on a terminal too: they are there to be given to the next command.
  const rows = cases.map((each) => [
    each.contextId ?? each.activity,
    moment(each.updatedAt),
    String(each.counts.tasks),
    String(each.stuck),
    clean(each.owner ?? ''),
    clean(each.objective ?? ''),
  ]);
  const lines = table(terminal, columns, rows, (text, column, row) =>
    column === 3 && (cases[row]?.stuck ?? 0) > 0 ? terminal.paint('yellow', text) : text,
  );
  return more ? [...lines, terminal.paint('dim', 'There are more: --limit N')] : lines;
}

const showSchema = z.object({
  timeline: z.boolean().default(false),
  activity: z.boolean().default(false),
});

async function showCase(surroundings: Surroundings, id: string, options: unknown): Promise<void> {
  const { timeline, activity } = parseOptions(showSchema, options);
  const client = clientOf(options);
  const out = outputOf(surroundings, options);
  const view = await client.caseView(id);
  if (out.json && !timeline) {
    out.result({ case: view }, () => []);
    return;
  }
  const assertions = await readTimeline(client, id);
  const words = new Words(view, out.terminal, assertions);
  if (timeline) {
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
  ];
}

const maxPages = 1_000;

async function readTimeline(client: HubClient, id: string): Promise<Assertion[]> {
  const assertions: Assertion[] = [];
  let after: number | undefined = 0;
  for (let page = 0; after !== undefined; page++) {
    if (page === maxPages) {
      throw new ThroughlineError('too-large', `the timeline of ${id} is longer than can be shown`);
    }
    const { assertions: more, next } = await client.timeline(id, { after, limit: limits.pageSize });
    assertions.push(...more);
    after = next;
  }
  return assertions;
}
