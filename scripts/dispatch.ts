import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface Dispatch {
  /** The npm script this serves: `npm run <script> -- NAME`. */
  readonly script: string;
  /** What NAME names, in the singular. */
  readonly what: string;
  /** The folder, ending in `/`, in which NAME is a folder holding a main.ts. */
  readonly folder: URL;
  /** The values an option may have, as far as they are built; other options are the story's own. */
  readonly options: Readonly<Record<string, readonly string[]>>;
}

/** What to run, or why not. */
export type Decision =
  | { readonly kind: 'run'; readonly main: URL; readonly flags: readonly string[] }
  | { readonly kind: 'refuse'; readonly message: string };

/** The names that can be run: folders with a main.ts. */
function namesIn(folder: URL): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/main.ts`, folder)))
    .map((entry) => entry.name)
    .toSorted();
}

const list = (values: readonly string[]): string => values.join(', ') || 'none yet';

/** Reads `NAME [flags]`; an unknown name or a value that isn't built is refused with what exists. */
export function decide(dispatch: Dispatch, args: readonly string[]): Decision {
  const { script, what, folder, options } = dispatch;
  const names = namesIn(folder);
  const [name = '', ...flags] = args;
  if (!names.includes(name)) {
    const problem =
      name === '' || name.startsWith('-') ? `no ${what} named` : `no ${what} “${name}”`;
    return refuse(`${problem}. Usage: npm run ${script} -- NAME [flags]. Names: ${list(names)}.`);
  }
  const { values } = parseArgs({
    args: flags,
    strict: false,
    options: Object.fromEntries(Object.keys(options).map((key) => [key, { type: 'string' }])),
  });
  for (const [key, allowed] of Object.entries(options)) {
    const value = values[key];
    if (value !== undefined && !allowed.some((each) => each === value)) {
      return refuse(`--${key} ${String(value)} does not exist. --${key} takes: ${list(allowed)}.`);
    }
  }
  return { kind: 'run', main: new URL(`${name}/main.ts`, folder), flags };
}

function refuse(message: string): Decision {
  return { kind: 'refuse', message };
}

/** Runs the named main.ts in this process with the remaining flags; exits 2 on a refusal. */
export async function run(dispatch: Dispatch): Promise<void> {
  const decision = decide(dispatch, process.argv.slice(2));
  if (decision.kind === 'refuse') {
    console.error(decision.message);
    process.exitCode = 2;
    return;
  }
  process.argv.splice(1, process.argv.length, fileURLToPath(decision.main), ...decision.flags);
  await import(decision.main.href);
}
