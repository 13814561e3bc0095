import type { Command } from 'commander';
import { clientOf, command, outputOf, withHub, type Surroundings } from '../command.ts';
import { explanationLines } from '../views/explanation.ts';

/** `throughline explain A [B]`. */
export const explainCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('explain', 'Says why an object is here, or how two are related', [
      'explain tsk_01h…',
      'explain res_01h… tsk_01h…',
    ]),
  )
    .argument('<a>', 'id of a Participant, Activity, Dialog, Task or Resource')
    .argument('[b]', 'another one')
    .action(async (a: string, b: string | undefined, options: unknown) => {
      const explanation = await clientOf(options).explain(a, b);
      const out = outputOf(surroundings, options);
      out.result({ explanation }, () => explanationLines(out.terminal, explanation));
    });
