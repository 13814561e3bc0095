import { Option, type Command } from 'commander';
import { z } from 'zod';
import { foreignId, shortText } from '../../model/ids.ts';
import type { KeySummary } from '../../model/key.ts';
import { roles } from '../../model/principal.ts';
import {
  clientOf,
  command,
  outputOf,
  parseOptions,
  withHub,
  type Surroundings,
} from '../command.ts';
import { writePrivate } from '../whole-file.ts';
import type { Output } from '../output.ts';
import { table } from '../table.ts';
import { clean } from '../terminal.ts';
import { moment } from '../views/words.ts';

const createSchema = z.object({
  role: z.enum(roles).default('caller'),
  tenant: foreignId.optional(),
  label: shortText.optional(),
  out: z.string().optional(),
});

/** `throughline key create | list | revoke`. */
export const keyCommand = (surroundings: Surroundings): Command =>
  command('key', 'API keys: who may call the hub', ['key create priya', 'key list'])
    .addCommand(createCommand(surroundings))
    .addCommand(listCommand(surroundings))
    .addCommand(revokeCommand(surroundings));

const createCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('create', 'Makes a key; it is shown once', [
      'key create priya',
      'key create policy-reader --role agent --out policy-reader.key',
    ]),
  )
    .argument('<principal>', 'id of the one who will call with it')
    .addOption(new Option('--role <role>', 'what it may be').choices(roles).default('caller'))
    .option('--tenant <id>', 'tenant (default: one’s own)')
    .option('--label <text>', 'a note for the list of keys')
    .option('--out <file>', 'write the key into a file that only its owner can read')
    .action(async (id: string, options: unknown) => {
      const { role, tenant, label, out: file } = parseOptions(createSchema, options);
      const client = clientOf(options);
      const principal = { tenant: tenant ?? (await client.whoAmI()).tenant, id, role };
      const made = await client.createKey({
        principal,
        ...(label === undefined ? {} : { label }),
      });
      const out = outputOf(surroundings, options);
      if (file === undefined) {
        out.result({ id: made.id, principal, key: made.key }, () => [made.key]);
        if (!out.json) out.note(`Key ${made.id} of ${id} (${role}). It is not shown again.`);
        return;
      }
      writePrivate(file, `${made.key}\n`);
      out.result({ id: made.id, principal, file }, () => [
        `Key ${made.id} of ${id} (${role}) is in ${file}.`,
      ]);
    });

const listCommand = (surroundings: Surroundings): Command =>
  withHub(command('list', 'Keys of the tenant, without their secrets', ['key list'])).action(
    async (options: unknown) => {
      const keys = await clientOf(options).keys();
      const out = outputOf(surroundings, options);
      out.result({ keys }, () => listLines(out, keys));
    },
  );

const revokeCommand = (surroundings: Surroundings): Command =>
  withHub(command('revoke', 'Ends a key', ['key revoke key_01h…']))
    .argument('<id>', 'id of the key, as in the list')
    .action(async (id: string, options: unknown) => {
      await clientOf(options).revokeKey(id);
      outputOf(surroundings, options).result({ id, revoked: true }, () => [`${id} is revoked.`]);
    });

function listLines({ terminal }: Output, keys: readonly KeySummary[]): string[] {
  const columns = [
    { title: 'KEY' },
    { title: 'PRINCIPAL' },
    { title: 'ROLE' },
    { title: 'MADE', optional: true },
    { title: 'STATE' },
    { title: 'LABEL', flexible: true },
  ];
  const rows = keys.map((each) => [
    each.id,
    clean(each.principal.id),
    each.principal.role,
    moment(each.createdAt),
    each.revoked ? 'revoked' : 'valid',
    clean(each.label ?? ''),
  ]);
  return table(terminal, columns, rows);
}
