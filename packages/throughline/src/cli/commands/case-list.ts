import type { Command } from 'commander';
import { z } from 'zod';
import type { HubClient } from '../../client/index.ts';
import type { CaseQuery, CaseSummary } from '../../model/case-view.ts';
import { shortText } from '../../model/ids.ts';
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
import { clean, type Terminal } from '../terminal.ts';
import { moment } from '../views/words.ts';

const listSchema = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(20),
  label: shortText.exactOptional(),
  participant: shortText.exactOptional(),
  stuck: z.literal(true).exactOptional(),
});

/** `throughline case list | search`. */
export function listCommands(surroundings: Surroundings): readonly Command[] {
  const list = withHub(
    command('list', 'Cases that one may see, latest first', [
      'case list',
      'case list --stuck',
      'case list --json',
    ]),
  )
    .option('--stuck', 'only cases in which something does not go on')
    .option('--limit <n>', 'cases at most', '20')
    .action(async (options: unknown) => {
      const { limit, ...by } = parseOptions(listSchema, options);
      const found = await readCases(clientOf(options), limit, by);
      const out = outputOf(surroundings, options);
      const none = by.stuck === true ? 'Nothing is stuck.' : 'No cases yet.';
      out.result(found, () => listLines(out, found, none));
    });
  const search = withHub(
    command('search', 'Cases by words, label and participant', [
      'case search cash back',
      'case search --label ticket=1234',
      'case search --participant priya --stuck',
    ]),
  )
    .argument('[words...]', 'words of the objective or of labels')
    .option('--label <name=value>', 'a label, or its name alone')
    .option('--participant <id>', 'a principal, a URL or prt_…')
    .option('--stuck', 'only cases in which something does not go on')
    .option('--limit <n>', 'cases at most', '20')
    .action(async (words: string[], options: unknown) => {
      const { limit, ...by } = parseOptions(listSchema, options);
      const text = words.join(' ').trim();
      const wanted = text === '' ? by : { ...by, text };
      const found = await readCases(clientOf(options), limit, wanted);
      const out = outputOf(surroundings, options);
      out.result(found, () => listLines(out, found, 'No case fits.'));
    });
  return [list, search];
}

interface Cases extends Record<string, unknown> {
  readonly cases: readonly CaseSummary[];
  /** There are more than were asked for. */
  readonly more: boolean;
}

/** Pages that a search asks for, so that it ends among very many cases. */
const maxPages = 200;

async function readCases(
  client: HubClient,
  limit: number,
  wanted: Omit<CaseQuery, 'cursor' | 'pageSize'> = {},
): Promise<Cases> {
  const cases: CaseSummary[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    pages += 1;
    const pageSize = Math.min(limit - cases.length, limits.pageSize);
    const page = await client.cases({
      ...wanted,
      pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    cases.push(...page.cases);
    cursor = page.cursor;
  } while (cursor !== undefined && cases.length < limit && pages < maxPages);
  return { cases, more: cursor !== undefined };
}

const shownName = 20;

/** How many tasks are stuck, and whose step it is; where none is, how many failed. */
function stuckWords({ fit }: Terminal, { stuck, failed = 0, whose = [] }: CaseSummary): string {
  const [first, ...more] = whose;
  if (stuck === 0 && failed > 0) return `– (${failed} failed)`;
  if (stuck === 0 || first === undefined) return stuck === 0 ? '–' : String(stuck);
  const name = clean(first.name ?? first.participant);
  return `${stuck}: ${fit(name, shownName)}${more.length === 0 ? '' : ` +${more.length}`}`;
}

function listLines({ terminal }: Output, { cases, more }: Cases, none: string): string[] {
  if (cases.length === 0) return [none];
  const columns = [
    { title: 'CASE' },
    { title: 'CHANGED' },
    { title: 'TASKS', align: 'right', optional: true },
    { title: 'STUCK' },
    { title: 'OWNER', optional: true },
    { title: 'ABOUT', flexible: true },
  ] as const;
  // Whole ids here, on a terminal too: they are there to be given to the next command.
  const rows = cases.map((each) => [
    each.contextId ?? each.activity,
    moment(each.updatedAt),
    String(each.counts.tasks),
    stuckWords(terminal, each),
    clean(each.owner ?? ''),
    clean(each.objective ?? ''),
  ]);
  const lines = table(terminal, columns, rows, (text, column, row) =>
    column === 3 && (cases[row]?.stuck ?? 0) > 0 ? terminal.paint('yellow', text) : text,
  );
  return more ? [...lines, terminal.paint('dim', 'There are more: --limit N')] : lines;
}
