import { Argument, type Command } from 'commander';
import { command, type Surroundings } from '../command.ts';

const bash = `_throughline() {
  local IFS=$'\\n'
  COMPREPLY=( $(throughline complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) )
}
complete -o default -F _throughline throughline`;

const scripts = {
  bash,
  zsh: `autoload -U bashcompinit && bashcompinit\n${bash}`,
  fish: "complete -c throughline -a '(throughline complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'",
} as const;

type Shell = keyof typeof scripts;
const shells = ['bash', 'zsh', 'fish'] as const satisfies readonly Shell[];

/** What may stand in place of the last word: commands, options, and values of an option. */
export function candidates(whole: Command, words: readonly string[]): string[] {
  const last = words.at(-1) ?? '';
  let at = whole;
  for (const word of words.slice(0, -1)) at = at.commands.find((c) => c.name() === word) ?? at;
  const before = words.at(-2);
  const option = at.options.find(({ long }) => long === before);
  const offered =
    option?.argChoices ??
    (last.startsWith('-')
      ? at.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []))
      : at.commands.map((each) => each.name()).filter((name) => name !== 'complete'));
  return offered.filter((each) => each.startsWith(last));
}

/** `throughline completion SHELL`, and `complete`, which that script asks. */
export function completionCommands(
  surroundings: Surroundings,
  whole: () => Command,
): readonly [Command, Command] {
  const completion = command('completion', 'Prints a script that completes commands in a shell', [
    'completion bash >> ~/.bashrc',
  ])
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell) => {
      surroundings.stdout.write(`${scripts[shell]}\n`);
    });
  const complete = command('complete', 'Candidates for the last word', [])
    .argument('[words...]')
    .action((words: string[]) => {
      surroundings.stdout.write(
        candidates(whole(), words)
          .map((each) => `${each}\n`)
          .join(''),
      );
    });
  return [completion, complete];
}
