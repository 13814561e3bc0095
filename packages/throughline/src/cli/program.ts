import { CommanderError, type Command } from 'commander';
import { command, type Surroundings } from './command.ts';
import { agentCommand } from './commands/agent.ts';
import { caseCommand } from './commands/case.ts';
import { completionCommands } from './commands/completion.ts';
import { doctorCommand } from './commands/doctor.ts';
import { backupCommand } from './commands/backup.ts';
import { explainCommand } from './commands/explain.ts';
import { exportCommand } from './commands/export.ts';
import { grantCommand } from './commands/grant.ts';
import { importCommand } from './commands/import.ts';
import { keyCommand } from './commands/key.ts';
import { pageCommand } from './commands/page.ts';
import { quotaCommand } from './commands/quota.ts';
import { restoreCommand } from './commands/restore.ts';
import { runCommand } from './commands/run.ts';
import { serveCommand } from './commands/serve.ts';
import { verifyCommand } from './commands/verify.ts';
import { endingOf, exitCodes, exitHelp, Stopped } from './exit.ts';
import { jsonVersion } from './output.ts';
import { packageVersion } from './package-version.ts';

/** The whole command line. */
export function program(surroundings: Surroundings): Command {
  const whole = command(
    'throughline',
    'Keeps multi-agent work together: cases, who did what, from what',
    ['serve', 'case list', 'case show ctx_01h…'],
  )
    .version(packageVersion())
    .addHelpText('after', exitHelp)
    .showHelpAfterError('(--help says more)')
    .addCommand(serveCommand(surroundings))
    .addCommand(runCommand(surroundings))
    .addCommand(agentCommand(surroundings))
    .addCommand(caseCommand(surroundings))
    .addCommand(explainCommand(surroundings))
    .addCommand(keyCommand(surroundings))
    .addCommand(grantCommand(surroundings))
    .addCommand(quotaCommand(surroundings))
    .addCommand(pageCommand(surroundings))
    .addCommand(exportCommand(surroundings))
    .addCommand(importCommand(surroundings))
    .addCommand(verifyCommand(surroundings))
    .addCommand(backupCommand(surroundings))
    .addCommand(restoreCommand(surroundings))
    .addCommand(doctorCommand(surroundings));
  const [completion, complete] = completionCommands(surroundings, () => whole);
  whole.addCommand(completion).addCommand(complete, { hidden: true });
  forAll(whole, (each) =>
    each.exitOverride().configureOutput({
      writeOut: (text) => void surroundings.stdout.write(text),
      writeErr: (text) => void surroundings.stderr.write(text),
    }),
  );
  return whole;
}

function forAll(each: Command, change: (command: Command) => unknown): void {
  change(each);
  for (const below of each.commands) forAll(below, change);
}

/** Runs one command line to its end and gives the exit code. Never throws. */
export async function run(words: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    await program(surroundings).parseAsync(words, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof Stopped) {
      if (error.message !== '') surroundings.stderr.write(`${error.message}\n`);
      return error.exitCode;
    }
    const { code, message, exitCode } = endingOf(error);
    const text = words.includes('--json')
      ? JSON.stringify({ version: jsonVersion, error: { code, message } })
      : `throughline: ${message}`;
    surroundings.stderr.write(`${text}\n`);
    return exitCode;
  }
}
