import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pick, randomFrom, type Random } from '../chaos/random.ts';
import { faultNames, type Faults } from './faults.ts';
import { differences, type Outcome } from './outcome.ts';
import { runMs, type Role, type Stage, type Victim } from './stage.ts';
import { stageNames, stages, type StageName } from './stages.ts';

export interface Options {
  readonly names?: readonly StageName[];
  /** In all; each example gets as many. */
  readonly kills: number;
  readonly seed: number;
  readonly onKill?: (name: StageName, kill: Kill) => void;
  /** Ends the killing early: what is under way comes to its end, and counts. */
  readonly signal?: AbortSignal;
  /** Examples played at the same time. */
  readonly atOnce?: number;
}

interface Kill extends Victim {
  /** Milliseconds from the request. */
  readonly after: number;
  /** Milliseconds until it was at work, killed and up again. */
  readonly tookMs: number;
}

export interface Report {
  readonly name: StageName;
  readonly seed: number;
  readonly seconds: number;
  /** The first of them without a kill. */
  readonly runs: number;
  readonly kills: Readonly<Record<Role, number>>;
  /** Of them those whose victim had work of its own under way. */
  readonly amidWork: number;
  /** Messages that went out once more to an agent that knows nothing of the hub. */
  readonly anew: number;
  /** Sentences about what is not as it must be. */
  readonly faults: Faults;
  /** Where all of it was left; only when something is not as it must be. */
  readonly folder?: string;
}

/** Milliseconds between what is up again, or the request, and the next kill. */
const pauseMs = { least: 20, most: 1_200 };
/** Kills of one run, at most: then it is let go to its end. */
const mostKills = 5;

/** Plays each example over and over, killing what it runs on, till there were so many kills. */
export async function runExamplesChaos(options: Options): Promise<Report[]> {
  const { names = stageNames, kills, seed, atOnce = 2 } = options;
  const reports: Report[] = [];
  const left = [...names.entries()];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, name] = next;
      const share = Math.floor(kills / names.length) + (at < kills % names.length ? 1 : 0);
      reports[at] = await killOver(name, { ...options, kills: share, seed: seed + at });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return reports;
}

export const killsOf = ({ kills }: Report): number => kills.master + kills.agent + kills.hub;

async function killOver(name: StageName, options: Options): Promise<Report> {
  const { kills: count, seed } = options;
  const isStopped = (): boolean => options.signal?.aborted === true;
  const begun = performance.now();
  const random = randomFrom(seed);
  const stage = await stages[name]();
  const kills: Kill[] = [];
  const outcomes: Outcome[] = [];
  const broken: string[] = [];
  try {
    outcomes.push(await oneRun(stage, () => Promise.resolve()));
    while (kills.length < count && !isStopped()) {
      const most = Math.min(count - kills.length, 1 + Math.floor(random() * mostKills));
      const outcome = await oneRun(stage, async (isOver) => {
        const from = performance.now();
        for (let at = 0; at < most; at++) {
          await sleep(pauseMs.least + random() * (pauseMs.most - pauseMs.least));
          if (isOver() || isStopped()) return;
          const kill = await strike(stage, random, from);
          kills.push(kill);
          options.onKill?.(name, kill);
        }
      });
      outcomes.push(outcome);
    }
  } catch (error) {
    // What does not come to its end is found out here, and nothing more on this stage.
    broken.push(error instanceof Error ? error.message : String(error));
  } finally {
    await stage.close();
  }
  const faults = faultsOf(outcomes, broken);
  const isRight = faultNames.every((each) => faults[each].length === 0);
  if (isRight) rmSync(stage.folder, { recursive: true, force: true });
  const killed = (role: Role): number => kills.filter((each) => each.role === role).length;
  return {
    name,
    seed,
    seconds: Math.round((performance.now() - begun) / 1_000),
    runs: outcomes.length,
    kills: { master: killed('master'), agent: killed('agent'), hub: killed('hub') },
    amidWork: kills.filter(({ atWork }) => atWork).length,
    anew: outcomes.reduce((sum, { anew }) => sum + anew, 0),
    faults,
    ...(isRight ? {} : { folder: stage.folder }),
  };
}

/** Of all runs; the first of them was not disturbed, and the others must have come out like it. */
function faultsOf(outcomes: readonly Outcome[], broken: readonly string[]): Faults {
  const [undisturbed] = outcomes;
  const found = (of: (outcome: Outcome) => readonly string[]): string[] =>
    outcomes.flatMap((outcome, at) => of(outcome).map((what) => `run ${at}: ${what}`));
  return {
    repeated: found(({ faults }) => faults.repeated),
    doubled: found(({ faults }) => faults.doubled),
    open: [...found(({ faults }) => faults.open), ...broken],
    different: found((outcome) => [
      ...outcome.faults.different,
      ...(undisturbed === undefined ? [] : differences(undisturbed, outcome)),
    ]),
  };
}

async function oneRun(
  stage: Stage,
  disturb: (isOver: () => boolean) => Promise<void>,
): Promise<Outcome> {
  const playing = await stage.play();
  await Promise.race([disturb(playing.isOver), stage.ended]);
  const late = AbortSignal.timeout(runMs);
  const tooLate = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(new Error('A run did not end')), { once: true });
  });
  await Promise.race([playing.over, stage.ended, tooLate]);
  return playing.outcome();
}

async function strike(stage: Stage, random: Random, from: number): Promise<Kill> {
  const role = pick(random, stage.weights);
  const at = performance.now();
  const victim = await stage.kill(role, random);
  const tookMs = Math.round(performance.now() - at);
  return { ...victim, after: Math.round(at - from), tookMs };
}
