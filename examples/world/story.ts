/** How the smaller examples are told, checked, and shown to see what is wrong. */
import { readFlags } from '../../scripts/flags.ts';
import { endOnUncaught, lastWords, needRoom } from '../../scripts/full-disk.ts';
import { outliveReaders } from '../../scripts/reader-gone.ts';
import { tmpdir } from 'node:os';
import type { AgentHandler } from 'throughline/agent';
import type { MasterOptions, RunReport, RunRequest } from 'throughline/master';
import { World, type Given } from './world.ts';

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was looked at and found. */
  readonly saw: unknown;
}

/** What came of a run, wherever its parts ran. */
export interface Seen {
  readonly report: RunReport;
  /** Text of an output of the run, by its name. */
  readonly output: (name: string) => Promise<string>;
  readonly given: readonly Given[];
  /** `begins` and `ends` with what began or ended, in this order. */
  readonly steps: readonly string[];
}

/** Who takes part in an example, what is asked, and what must come of it. */
export interface Play {
  readonly query: string;
  readonly request: Omit<RunRequest, 'taskId' | 'query'>;
  readonly cast: Readonly<Record<string, { description: string; handler: AgentHandler }>>;
  readonly master?: Partial<MasterOptions>;
  /** What must be so in the end, whoever died meanwhile. */
  readonly checks: (seen: Seen) => Promise<readonly Check[]>;
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
export async function tell(story: Story): Promise<void> {
  outliveReaders();
  endOnUncaught();
  try {
    await tellIt(story);
  } catch (error) {
    console.error(lastWords(error));
    process.exitCode = 1;
  }
}

async function tellIt({ checks: names, tell: run }: Story): Promise<void> {
  const values = readFlags({
    json: { type: 'boolean', default: false },
    fault: { type: 'string' },
  });
  const { json, fault } = values;
  if (fault !== undefined && !names.includes(fault)) {
    console.error(`--fault ${fault}: there is ${names.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const say = json ? console.error : console.log;
  needRoom(tmpdir());
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
