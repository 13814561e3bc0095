import type { Command } from 'commander';
import { ThroughlineError } from '../../errors.ts';
import { clientOf, command, outputOf, withHub, type Surroundings } from '../command.ts';
import { endingOf, type Ending } from '../exit.ts';

interface Check {
  readonly name: string;
  readonly saw: string;
  readonly failure?: Ending;
}

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
      const json = checks.map(({ name, saw, failure }) => ({
        name,
        ok: failure === undefined,
        saw,
      }));
      out.result({ checks: json }, () =>
        json.map(
          ({ name, ok, saw }) =>
            `${ok ? paint('green', 'ok ') : paint('red', 'BAD')}  ${name}  ${saw}`,
        ),
      );
      const failed = checks.flatMap(({ failure }) => failure ?? []);
      const [first] = failed;
      if (first === undefined) return;
      throw new ThroughlineError(first.code, `${failed.length} of ${checks.length} checks failed.`);
    },
  );

async function check(name: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { name, saw: await look() };
  } catch (error) {
    const failure = endingOf(error);
    return { name, saw: failure.message, failure };
  }
}
