/** How the smaller examples are told, checked, and shown to see what is wrong. */
import { parseArgs } from 'node:util';
import { World } from './world.ts';

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was looked at and found. */
  readonly saw: unknown;
}

interface Told {
  readonly world: World;
  /** Name of what is to go wrong on purpose. */
  readonly fault: string | undefined;
  readonly say: (line: string) => void;
}

export interface Story {
  /** Names of the checks; each is also that of the fault that turns it. */
  readonly checks: readonly string[];
  readonly tell: (told: Told) => Promise<{ result: unknown; checks: readonly Check[] }>;
}

/** Runs a story as a command: `--json` for programs, `--fault NAME` to see a check fail. */
export async function tell({ checks: names, tell: run }: Story): Promise<void> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, fault: { type: 'string' } },
  });
  const { json, fault } = values;
  if (fault !== undefined && !names.includes(fault)) {
    console.error(`--fault ${fault}: there is ${names.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const say = json ? console.error : console.log;
  const world = await World.open();
  try {
    const { result, checks } = await run({ world, fault, say });
    say('\nChecks');
    for (const { name, ok } of checks) say(`  ${ok ? 'ok    ' : 'NOT OK'} ${name}`);
    if (checks.some(({ ok }) => !ok)) process.exitCode = 1;
    if (json) console.log(JSON.stringify({ version: 1, result, checks }));
  } finally {
    await world.close();
  }
}
