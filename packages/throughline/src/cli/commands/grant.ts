import type { Command } from 'commander';
import { z } from 'zod';
import { grantOperation, grantOperations, type Grant } from '../../model/grant.ts';
import { foreignId, timestamp } from '../../model/ids.ts';
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
import { moment } from '../views/words.ts';

const operations = z
  .string()
  .transform((list) => list.split(',').map((each) => each.trim()))
  .pipe(z.array(grantOperation));

const createSchema = z.object({
  to: foreignId,
  allow: operations,
  from: z.coerce.number().int().nonnegative(),
  until: timestamp.optional(),
});

/** `throughline grant create | list | revoke`. */
export const grantCommand = (surroundings: Surroundings): Command =>
  command('grant', 'Let others use a context of one’s own', [
    'grant create ctx_01h… --to second-desk',
    'grant list ctx_01h…',
  ])
    .addCommand(createCommand(surroundings))
    .addCommand(listCommand(surroundings))
    .addCommand(revokeCommand(surroundings));

const createCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('create', 'Lets a principal use a context; it can’t grant on', [
      'grant create ctx_01h… --to second-desk',
      'grant create ctx_01h… --to auditor --allow get,list --until 2030-01-01T00:00:00Z',
    ]),
  )
    .argument('<context>', 'contextId')
    .requiredOption('--to <principal>', 'who gets it')
    .option('--allow <operations>', `any of ${grantOperations.join(',')}`, 'get,list,send')
    .option('--from <n>', 'history from this sequence number on', '0')
    .option('--until <time>', 'when it ends, such as 2030-01-01T00:00:00Z')
    .action(async (context: string, options: unknown) => {
      const { to, allow, from, until } = parseOptions(createSchema, options);
      const grant = await clientOf(options).grant(context, {
        grantee: to,
        operations: allow,
        fromSequence: from,
        ...(until === undefined ? {} : { expiresAt: until }),
      });
      outputOf(surroundings, options).result({ grant }, () => [
        `${grant.id}: ${clean(to)} may ${grant.operations.join(', ')} in ${grant.contextId}.`,
      ]);
    });

const listCommand = (surroundings: Surroundings): Command =>
  withHub(command('list', 'Grants on a context', ['grant list ctx_01h…']))
    .argument('<context>', 'contextId')
    .action(async (context: string, options: unknown) => {
      const grants = await clientOf(options).grants(context);
      const out = outputOf(surroundings, options);
      out.result({ grants }, () => listLines(out, grants));
    });

const revokeCommand = (surroundings: Surroundings): Command =>
  withHub(command('revoke', 'Ends a grant', ['grant revoke grt_01h…']))
    .argument('<id>', 'id of the grant')
    .action(async (id: string, options: unknown) => {
      await clientOf(options).revokeGrant(id);
      outputOf(surroundings, options).result({ id, revoked: true }, () => [`${id} is revoked.`]);
    });

function listLines({ terminal }: Output, grants: readonly Grant[]): string[] {
  if (grants.length === 0) return ['No grants on this context.'];
  const columns = [
    { title: 'GRANT' },
    { title: 'TO' },
    { title: 'STATE' },
    { title: 'MAY', flexible: true },
  ];
  const rows = grants.map((each) => [
    each.id,
    clean(each.grantee),
    stateOf(each),
    each.operations.join(', '),
  ]);
  return table(terminal, columns, rows);
}

function stateOf({ revoked, expiresAt }: Grant): string {
  if (revoked) return 'revoked';
  return expiresAt === undefined ? 'open end' : `until ${moment(expiresAt)}`;
}
