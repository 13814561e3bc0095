import type { Command } from 'commander';
import { clientOf, command, outputOf, withHub, type Surroundings } from '../command.ts';
import { endingOf, exitCodes } from '../exit.ts';

/** `throughline doctor`: is the hub there, and is the key good? */
export const doctorCommand = (surroundings: Surroundings): Command =>
  withHub(command('doctor', 'Checks that the hub is there and the key is good', ['doctor'])).action(
    async (options: unknown) => {
      const client = clientOf(options);
      const checks = [
        await check('hub-answers', async () => {
          await client.health();
          return 'ok';
        }),
        await check('key-is-valid', async () => {
          const { id, role, tenant } = await client.whoAmI();
          return `${id}, ${role} of ${tenant}`;
        }),
      ];
      const out = outputOf(surroundings, options);
      const { paint } = out.terminal;
      out.result({ checks: checks.map(({ name, ok, saw }) => ({ name, ok, saw })) }, () =>
        checks.map(
          ({ name, ok, saw }) =>
            `${ok ? paint('green', 'ok  ') : paint('red', 'BAD ')} ${name}  ${saw}`,
        ),
      );
      process.exitCode = checks.find(({ ok }) => !ok)?.exitCode ?? exitCodes.ok;
    },
  );

async function check(name: string, look: () => Promise<string>) {
  try {
    return { name, ok: true, saw: await look(), exitCode: exitCodes.ok };
  } catch (error) {
    const { message, exitCode } = endingOf(error);
    return { name, ok: false, saw: message, exitCode };
  }
}
