import { exitCodes } from './exit.ts';
import { run } from './program.ts';

// A reader that has seen enough, such as head, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok);
  throw error;
});

process.exitCode = await run(process.argv.slice(2), process);

// All is said and closed. An agent's handler that still runs in here, for nobody, does not keep the process.
const isRead = (): boolean =>
  [process.stdout, process.stderr].every((each) => !each.writableLength);
setInterval(() => isRead() && process.exit(), 1_000).unref();
