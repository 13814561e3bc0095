import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { idKind, idSchema } from '../../model/ids.ts';
import type { Correction, Said } from '../../model/case-work.ts';
import { dialogEndReason, dialogState, localContextSchema } from '../../model/dialog.ts';
import { awaitingWhat, taskState } from '../../model/task.ts';
import {
  clientOf,
  command,
  outputOf,
  parseOptions,
  withHub,
  type Surroundings,
} from '../command.ts';

const causeSchema = z.object({ cause: idSchema('assertion').exactOptional() });

const caseIn = new Argument('<id>', 'contextId or Activity id of the case');

/** A command that changes one case by hand. */
const change = (name: string, description: string, examples: readonly string[]): Command =>
  withHub(command(name, description, examples))
    .addArgument(caseIn)
    .option('--cause <asr_…>', 'the assertion because of which');

/** `throughline case close | reopen | label | merge | split | correct | undo | revoke-tokens | erase`. */
export function caseWorkCommands(surroundings: Surroundings): readonly Command[] {
  const tell = (options: unknown, id: string, what: string, said: Said & object): void =>
    outputOf(surroundings, options).result({ id, ...said }, () => [
      said.assertions.length === 0
        ? `${id} was so already.`
        : `${id} ${what} (${said.assertions.join(', ')}).`,
    ]);
  return [
    change('close', 'Closes a case; what is under way goes on', ['case close ctx_01h…']).action(
      async (id: string, options: unknown) => {
        const cause = parseOptions(causeSchema, options);
        tell(options, id, 'is closed', await clientOf(options).case(id).close(cause));
      },
    ),
    change('reopen', 'Opens a closed case again', ['case reopen ctx_01h…']).action(
      async (id: string, options: unknown) => {
        const cause = parseOptions(causeSchema, options);
        tell(options, id, 'is open again', await clientOf(options).case(id).reopen(cause));
      },
    ),
    labelCommand(tell),
    change('merge', 'Ends a case in another, and shows it with that one', [
      'case merge ctx_01h… ctx_02h…',
    ])
      .argument('<into>', 'the case that goes on')
      .action(async (id: string, into: string, options: unknown) => {
        const given = { into, ...parseOptions(causeSchema, options) };
        tell(options, id, `is merged into ${into}`, await clientOf(options).case(id).merge(given));
      }),
    splitCommand(tell),
    correctCommand(tell),
    withHub(command('undo', 'Takes back what was said by hand', ['case undo ctx_01h… asr_01h…']))
      .addArgument(caseIn)
      .argument('<assertion>', 'what to take back, asr_…')
      .action(async (id: string, assertion: string, options: unknown) => {
        const said = await clientOf(options).case(id).undo({ assertion });
        tell(options, id, `is as before ${assertion}`, said);
      }),
    revokeTokensCommand(surroundings),
    change('erase', 'Destroys for good what people wrote in a case', ['case erase ctx_01h… --yes'])
      .option('--yes', 'it can’t be taken back, and you mean it')
      .action(async (id: string, options: unknown) => {
        const { yes, ...cause } = parseOptions(
          causeSchema.extend({ yes: z.boolean().default(false) }),
          options,
        );
        if (!yes) {
          const message = `--yes: ${id} would be erased for good; say --yes if you mean it`;
          throw new ThroughlineError('invalid', message);
        }
        tell(options, id, 'is erased', await clientOf(options).case(id).erase(cause));
      }),
  ];
}

const revokeTokensCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('revoke-tokens', 'Takes back every right to read its contents given until now', [
      'case revoke-tokens ctx_01h…',
    ]),
  )
    .addArgument(caseIn)
    .action(async (id: string, options: unknown) => {
      await clientOf(options).content.revokeTokens({ case: id });
      const words = `No token that was given out for contents of ${id} opens anything any more.`;
      outputOf(surroundings, options).result({ id }, () => [words]);
    });

type Tell = (options: unknown, id: string, what: string, said: Said & object) => void;

const labelCommand = (tell: Tell): Command =>
  change('label', 'Files a case under a label', [
    'case label ctx_01h… ticket=1234',
    'case label ctx_01h… --remove ticket',
  ])
    .argument('[name=value]', 'the label')
    .option('--remove <name>', 'takes a label off')
    .action(async (id: string, label: string | undefined, options: unknown) => {
      const { remove, ...cause } = parseOptions(
        causeSchema.extend({ remove: z.string().exactOptional() }),
        options,
      );
      const [, name = '', value = ''] = /^([^=]+)=(.+)$/s.exec(label ?? '') ?? [];
      if ((name === '') === (remove === undefined)) {
        throw new ThroughlineError('invalid', 'label: give name=value, or --remove name');
      }
      const given = remove === undefined ? { name, value } : { name: remove };
      const said = await clientOf(options)
        .case(id)
        .label({ label: given, ...cause });
      tell(options, id, remove === undefined ? `has ${name}=${value}` : `has no ${remove}`, said);
    });

const splitCommand = (tell: Tell): Command =>
  change('split', 'Opens a case that goes on from this one', [
    'case split ctx_01h… --about "The shipping fee" --task tsk_01h…',
  ])
    .option('--about <text>', 'objective of the new case')
    .option('--task <id...>', 'tasks that the new case is about')
    .action(async (id: string, options: unknown) => {
      const { about, task, ...cause } = parseOptions(
        causeSchema.extend({
          about: z.string().exactOptional(),
          task: z.array(z.string()).default([]),
        }),
        options,
      );
      const split = await clientOf(options)
        .case(id)
        .split({ ...(about === undefined ? {} : { objective: about }), tasks: task, ...cause });
      tell(options, id, `goes on in ${split.contextId}`, split);
    });

const correctSchema = causeSchema.extend({
  awaiting: awaitingWhat.exactOptional(),
  reason: dialogEndReason.exactOptional(),
  relate: z.string().exactOptional(),
  rebind: z.boolean().exactOptional(),
  protocol: localContextSchema.shape.protocol.default('a2a'),
});

const correctCommand = (tell: Tell): Command =>
  change('correct', 'States by hand what is so', [
    'case correct ctx_01h… tsk_01h… failed',
    'case correct ctx_01h… tsk_01h… resolved',
    'case correct ctx_01h… dlg_01h… terminated --reason cancelled',
    'case correct ctx_01h… rel_01h… revoked',
    'case correct ctx_01h… tsk_01h… tsk_02h… --relate related-to',
    'case correct ctx_01h… dlg_01h… ctx_02h… --rebind',
  ])
    .argument('<object>', 'id of a Task, Dialog or relationship')
    .argument('<what>', 'its state; resolved, unresolved, revoked; the other end; the new id')
    .option('--awaiting <what>', 'what a Task that is awaiting waits for')
    .option('--reason <reason>', 'why a Dialog is terminated')
    .option('--relate <type>', 'relates two things')
    .option('--rebind', 'a Dialog or a Task goes on under another protocol-local id')
    .option('--protocol <name>', 'of that id: a2a (the default), mcp or aci')
    .action(async (id: string, object: string, what: string, options: unknown) => {
      const { cause, ...how } = parseOptions(correctSchema, options);
      const corrections = [correctionOf(object, what, how)];
      const said = await clientOf(options)
        .case(id)
        .correct({ corrections, ...(cause === undefined ? {} : { cause }) });
      tell(options, id, 'is corrected', said);
    });

function correctionOf(
  object: string,
  what: string,
  {
    awaiting,
    reason,
    relate,
    rebind = false,
    protocol,
  }: Omit<z.infer<typeof correctSchema>, 'cause'>,
): Correction['corrections'][number] {
  if (relate !== undefined) {
    const edge = { says: 'relationship.asserted', type: relate, from: object, to: what } as const;
    return { statement: edge };
  }
  const kind = idKind(object);
  if (rebind && kind === 'task') {
    return { about: object, statement: { says: 'task.bound', localId: what, rebind } };
  }
  if (rebind && kind === 'dialog') {
    const local = { protocol, localId: what };
    return { about: object, statement: { says: 'dialog.bound', local, rebind } };
  }
  if (kind === 'relationship' && what === 'revoked') {
    return { about: object, statement: { says: 'relationship.revoked' } };
  }
  if (kind === 'task' && (what === 'resolved' || what === 'unresolved')) {
    const resolved = what === 'resolved';
    return { about: object, statement: { says: 'task.unresolved', resolved } };
  }
  const [state, dialog] = [taskState.safeParse(what), dialogState.safeParse(what)];
  if (kind === 'task' && state.success) {
    const more = awaiting === undefined ? {} : { awaiting };
    return { about: object, statement: { says: 'task.state', state: state.data, ...more } };
  }
  if (kind === 'dialog' && dialog.success) {
    const more = reason === undefined ? {} : { reason };
    return { about: object, statement: { says: 'dialog.state', state: dialog.data, ...more } };
  }
  throw new ThroughlineError('invalid', `${object} ${what}: is nothing that can be said by hand`);
}
