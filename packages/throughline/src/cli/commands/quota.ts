import type { Command } from 'commander';
import { z } from 'zod';
import { foreignId } from '../../model/ids.ts';
import { quotaNames, type QuotaLimits, type QuotaReport } from '../../model/quota.ts';
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

const limit = z.union([z.literal('none'), z.coerce.number().int().nonnegative()]).exactOptional();
const setSchema = z.object({
  eachPrincipal: z.boolean().default(false),
  contexts: limit,
  openTasks: limit,
  bytes: limit,
  grants: limit,
  keys: limit,
  messagesPerMinute: limit,
});

/** `throughline quota show | set`. */
export const quotaCommand = (surroundings: Surroundings): Command =>
  command('quota', 'Limits of the tenant and of each of its principals', [
    'quota show',
    'quota set --contexts 10000 --messages-per-minute 600',
  ])
    .addCommand(showCommand(surroundings))
    .addCommand(setCommand(surroundings));

const showCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('show', 'Limits, and what is used of them', [
      'quota show',
      'quota show --principal priya',
    ]),
  )
    .option('--principal <id>', 'what this one uses, too')
    .action(async (options: unknown) => {
      const schema = z.object({ principal: foreignId.optional() });
      const { principal } = parseOptions(schema, options);
      const quotas = await clientOf(options).quotas(principal);
      const out = outputOf(surroundings, options);
      out.result({ quotas }, () => lines(out, quotas));
    });

const setCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('set', 'Changes limits; those not named stay', [
      'quota set --contexts 10000 --keys 50',
      'quota set --each-principal --messages-per-minute 60 --open-tasks none',
    ]),
  )
    .option('--each-principal', 'for each principal, not for the tenant as a whole')
    .option('--contexts <n>', 'contexts that are not over; none: no limit')
    .option('--open-tasks <n>', 'tasks that are not over')
    .option('--bytes <n>', 'bytes of offloaded content')
    .option('--grants <n>', 'grants in force')
    .option('--keys <n>', 'API keys that are not revoked')
    .option('--messages-per-minute <n>', 'messages let in within 60 seconds')
    .action(async (options: unknown) => {
      const { eachPrincipal, ...given } = parseOptions(setSchema, options);
      const client = clientOf(options);
      const { limits } = await client.quotas();
      const scope = eachPrincipal ? 'principal' : 'tenant';
      await client.setQuotas({ ...limits, [scope]: changed(limits[scope], given) });
      const quotas = await client.quotas();
      const out = outputOf(surroundings, options);
      out.result({ quotas }, () => lines(out, quotas));
    });

function changed(
  before: QuotaLimits,
  given: Omit<z.infer<typeof setSchema>, 'eachPrincipal'>,
): QuotaLimits {
  const limits: Record<string, number> = { ...before };
  for (const [name, value] of Object.entries(given)) {
    if (value === 'none') delete limits[name];
    else if (value !== undefined) limits[name] = value;
  }
  return limits;
}

const shown = (value: number | undefined): string => value?.toLocaleString('en') ?? 'no limit';

function lines({ terminal }: Output, { limits, used }: QuotaReport): string[] {
  const columns = [
    { title: 'WHAT' },
    { title: 'USED', align: 'right' },
    { title: 'TENANT', align: 'right' },
    { title: 'EACH PRINCIPAL', align: 'right' },
    ...(used.principal === undefined ? [] : [{ title: 'THIS ONE', align: 'right' } as const]),
  ] as const;
  const rows = quotaNames.map((name) => [
    name,
    (used.tenant[name] ?? 0).toLocaleString('en'),
    shown(limits.tenant[name]),
    shown(limits.principal[name]),
    ...(used.principal === undefined ? [] : [(used.principal[name] ?? 0).toLocaleString('en')]),
  ]);
  return table(terminal, columns, rows);
}
