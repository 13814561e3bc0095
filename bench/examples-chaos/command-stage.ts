/** The diagnosis by `throughline run`: its process is killed, and the run gone on with by `--resume`. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { diagnosis } from '../../examples/diagnosis/play.ts';
import type { Play } from '../../examples/world/story.ts';
import { Command } from './command.ts';
import { isFinal } from './faults.ts';
import { also, type Outcome } from './outcome.ts';
import type { Random } from '../chaos/random.ts';
import { latestMs, lookMs, ServedStage, workMs } from './served-stage.ts';
import type { Playing, Victim } from './stage.ts';

const workflow = fileURLToPath(new URL('../../examples/diagnosis/workflow.yaml', import.meta.url));
/** What the command line says of an item that comes from a file, around the file's name. */
const fromFile = /The paper-\d, from (.+?)\.txt/g;
const runnerId = 'runner';
/** Exit code of a command that found no hub, and how often, after how many milliseconds, it is given again. */
const unreachable = 3;
const mostTries = 50;
const tryMs = 500;

export class CommandStage extends ServedStage {
  #run: FollowedRun | undefined;
  readonly #known = new Set<string>();

  static async byCommand(): Promise<CommandStage> {
    const stage = new CommandStage('diagnosis');
    await stage.start(false);
    const agents = [...stage.agents].map(([id, { url }]) => ({ id, url }));
    writeFileSync(stage.#agentsFile, JSON.stringify({ agents }));
    for (const { description, content } of diagnosis.request.offered) {
      if (typeof content === 'string') writeFileSync(stage.#paper(description), content);
    }
    return stage;
  }

  get #agentsFile(): string {
    return join(this.folder, 'agents.yaml');
  }

  #paper(title: string): string {
    return join(this.folder, `${title}.txt`);
  }

  override play(): Promise<Playing> {
    const { query, request } = diagnosis;
    const inputs = request.offered.flatMap(({ name, description }) => [
      '--input',
      `${name}=@${this.#paper(description)}`,
    ]);
    // Named, or a command that finds the hub killed would start one of its own.
    const hub = ['--hub', this.hubUrl, '--key-file', join(this.folder, 'local.key')];
    const where = ['--agents', this.#agentsFile, '--data', this.folder, ...hub];
    const run = new FollowedRun({
      begin: ['run', workflow, ...where, '--query', query, ...inputs],
      resume: (id) => ['run', '--resume', id, ...where],
      openRuns: () => this.#openRuns(),
    });
    this.#run = run;
    return Promise.resolve({
      isOver: () => run.isOver,
      over: run.over,
      outcome: () => this.#outcome(run),
    });
  }

  /** As `throughline run --open` lists them. */
  async #openRuns(): Promise<readonly string[]> {
    const knows = existsSync(join(this.folder, `agent-${runnerId}.key`));
    return knows ? this.hubOf(runnerId).master().openRuns() : [];
  }

  /** Mostly once it has begun its run; else while it starts or opens the request. */
  protected override async killMaster(random: Random): Promise<Victim> {
    const begins = random() < 2 / 3 ? workMs : 0;
    for (let waited = 0; this.#run?.runId === '' && waited < begins; waited += lookMs) {
      await sleep(lookMs);
    }
    await sleep(random() * latestMs);
    const atWork = this.#run?.runId !== '';
    await this.#run?.killAndGoOn();
    return { role: 'master', name: runnerId, atWork };
  }

  override async close(): Promise<void> {
    await this.#run?.kill();
    await super.close();
  }

  protected override checks: Play['checks'] = async (seen) =>
    diagnosis.checks({
      ...seen,
      output: async (name) => (await seen.output(name)).replaceAll(fromFile, '$1'),
    });

  async #outcome({ runId, exitCode, log }: FollowedRun): Promise<Outcome> {
    const { cases } = await this.operator.cases();
    const left: string[] = [];
    let contextId = '';
    for (const { contextId: id } of cases) {
      if (id === undefined || this.#known.has(id)) continue;
      this.#known.add(id);
      const { tasks } = await this.operator.caseView(id);
      if (tasks.some((task) => task.id === runId)) contextId = id;
      else left.push(...tasks.filter(({ state }) => !isFinal(state)).map(sayLeft));
    }
    return also(await this.outcomeOf({ runId, contextId, master: runnerId }), {
      open: left,
      different: exitCode === 0 ? [] : [`the command ended with ${exitCode}: ${log}`],
    });
  }
}

const sayLeft = ({ id, state }: { id: string; state: string }): string =>
  `task ${id} is ${state}, and nobody goes on with it`;

/** What is given for a run, and for one that was left. */
interface Commands {
  readonly begin: readonly string[];
  readonly resume: (runId: string) => readonly string[];
  readonly openRuns: () => Promise<readonly string[]>;
}

/** One run, from its first command through all that went on with it. */
class FollowedRun {
  readonly #by: Commands;
  readonly #over = Promise.withResolvers<void>();
  #command: Command;
  #tries = 0;
  isOver = false;
  runId = '';
  exitCode = 0;

  constructor(by: Commands) {
    this.#by = by;
    this.#command = this.#start(by.begin);
  }

  get over(): Promise<void> {
    return this.#over.promise;
  }

  get log(): string {
    return this.#command.log;
  }

  /** A run that was begun is gone on with, told or not; where there is none it is asked for again. */
  async killAndGoOn(): Promise<void> {
    await this.kill();
    if (this.isOver) return;
    this.runId ||= (await this.#by.openRuns())[0] ?? '';
    this.#goOn();
  }

  kill(): Promise<void> {
    return this.#command.kill();
  }

  #goOn(): void {
    this.#command = this.#start(this.runId === '' ? this.#by.begin : this.#by.resume(this.runId));
  }

  #start(args: readonly string[]): Command {
    const command = new Command(args, {}, (log) => {
      this.runId ||= /^run (tsk_\w+):/m.exec(log)?.[1] ?? '';
    });
    void this.#watch(command);
    return command;
  }

  async #watch(command: Command): Promise<void> {
    const code = await command.ended;
    if (code === undefined) return;
    if (code === unreachable && this.#tries < mostTries) {
      this.#tries += 1;
      await sleep(tryMs);
      if (this.#command === command) this.#goOn();
      return;
    }
    this.exitCode = code;
    this.isOver = true;
    this.#over.resolve();
  }
}
