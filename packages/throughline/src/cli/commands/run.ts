import { randomUUID } from 'node:crypto';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import type { RunOptions, StartedRun } from '../../master/index.ts';
import type { RunReport } from '../../model/run.ts';
import { command, hubOf, outputOf, parseOptions, withHub, type Surroundings } from '../command.ts';
import { exitCodes, Stopped } from '../exit.ts';
import type { Output } from '../output.ts';
import type { CarriedOut } from '../run/carry-out.ts';
import { nextCommands } from '../run/next-commands.ts';
import type { Runner } from '../run/runner.ts';
import { heededNote, steer, steerings, type Steered, type Steering } from '../run/steer.ts';
import { openRunLines, reportLines, standLines } from '../views/run-report.ts';

const runSchema = z.object({
  data: z.string(),
  hub: z.string().exactOptional(),
  keyFile: z.string().exactOptional(),
  agents: z.string().exactOptional(),
  input: z.array(z.string()).default([]),
  query: z.string().exactOptional(),
  parallel: z.coerce.number().int().min(1).max(64).exactOptional(),
  resume: z.string().exactOptional(),
  answer: z.string().exactOptional(),
  open: z.boolean().default(false),
  status: z.string().exactOptional(),
  suspend: z.string().exactOptional(),
  interrupt: z.string().exactOptional(),
  about: z.string().exactOptional(),
  cancel: z.string().exactOptional(),
});
type Running = z.output<typeof runSchema>;

/** `throughline run`: one workflow to its end, on a hub that is up or for the time being. */
export const runCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('run', 'Runs a workflow with its agents to its end, or steers a run', [
      'run answer.yaml --agents agents.yaml --input letter=@letter.txt',
      'run answer.yaml --agents agents.yaml --query "Answer" --json',
      'run --resume tsk_01h… --agents agents.yaml',
      'run --resume tsk_01h… --agents agents.yaml --answer "In May"',
      'run --open',
      'run --status tsk_01h…',
      'run --interrupt tsk_01h… "It was in May" --about letter',
      'run --suspend tsk_01h…',
      'run --cancel tsk_01h…',
    ]),
  )
    .argument('[workflow]', 'file with the plan; with --interrupt, what changes')
    .option('--agents <file>', 'file that says which agents there are, and where')
    .option(
      '--input <name=value>',
      'offers text, with name=@file a file, with name=@https://… what lies in another store; may be repeated',
      (given: string, before: readonly string[] | undefined) => [...(before ?? []), given],
    )
    .option('--query <text>', 'the request in words (default: what the workflow says of itself)')
    .option('--parallel <n>', 'subtasks at work at once (default: 4)')
    .addOption(new Option('--resume <run>', 'goes on with a run').conflicts(['input', 'query']))
    .option('--answer <text>', 'answers what the run that is resumed asks')
    .option('--open', 'lists the runs that are not over')
    .option('--status <run>', 'tells how a run stands')
    .option('--suspend <run>', 'begins nothing more of a run until it is resumed')
    .option('--interrupt <run>', 'a later requirement: what depends on it is done anew')
    .option('--about <item>', 'the item that --interrupt corrects (default: the request)')
    .option('--cancel <run>', 'ends a run, and asks its agents to stop')
    .action(async (path: string | undefined, options: unknown) => {
      const running = parseOptions(runSchema, options);
      checkWhat(path, running);
      const out = outputOf(surroundings, options);
      // Only here: everybody else's commands start without a hub and what runs on it.
      const { readAgentsFile } = await import('../run/files.ts');
      const { Runner: Runners } = await import('../run/runner.ts');
      const runner = await Runners.open({
        hub: (running.hub ?? running.keyFile) === undefined ? undefined : () => hubOf(options),
        data: running.data,
        agents: running.agents === undefined ? undefined : readAgentsFile(running.agents),
        parallel: running.parallel,
        onFault: (error) => out.note(error instanceof Error ? error.message : String(error)),
      });
      try {
        await does({ surroundings, out, runner, running, path });
      } finally {
        await runner.close();
      }
    });

interface Doing {
  readonly surroundings: Surroundings;
  readonly out: Output;
  readonly runner: Runner;
  readonly running: Running;
  readonly path: string | undefined;
}

/** What is steered, where it is not the run of this command. */
const steeringIn = (running: Running): readonly [Steering, string] | undefined =>
  steerings.flatMap((each) => {
    const runId = running[each];
    return runId === undefined ? [] : [[each, runId] as const];
  })[0];

function checkWhat(path: string | undefined, running: Running): void {
  const { resume, answer, open, interrupt, about, agents } = running;
  const words = interrupt === undefined ? path : undefined;
  const named = [words, resume, open || undefined, ...steerings.map((each) => running[each])];
  if (named.filter((each) => each !== undefined).length !== 1) {
    const all = ['--resume', '--open', ...steerings.map((each) => `--${each}`)].join(', ');
    throw new ThroughlineError('invalid', `run: give one of a workflow file, ${all}`);
  }
  if (answer !== undefined && resume === undefined) {
    throw new ThroughlineError('invalid', '--answer: belongs to --resume');
  }
  if (about !== undefined && interrupt === undefined) {
    throw new ThroughlineError('invalid', '--about: belongs to --interrupt');
  }
  if (agents === undefined && (path ?? resume) !== undefined && interrupt === undefined) {
    throw new ThroughlineError(
      'invalid',
      '--agents: name the file that says which agents there are',
    );
  }
}

async function does(doing: Doing): Promise<void> {
  const { runner, running, path } = doing;
  if (running.open) return listOpen(doing);
  const what = steeringIn(running);
  if (what !== undefined) {
    const { about } = running;
    const steered = await steer(runner.master, ...what, { words: path, about });
    await runner.tell(steered.report);
    return showSteered(doing, steered);
  }
  const isElsewhere = await answered(doing);
  if (isElsewhere !== undefined) return showSteered(doing, isElsewhere);
  const { carryOut } = await import('../run/carry-out.ts');
  const { surroundings, out } = doing;
  const ended = await carryOut({
    surroundings,
    out,
    master: runner.master,
    resume: nextCommands(running).resume,
    begin: (options) => begin(doing, options),
  });
  await runner.tell(ended.report);
  await show(doing, ended);
}

/** Hands an answer in; where another process drives the run, that one goes on with it. */
async function answered({ out, runner, running }: Doing): Promise<Steered | undefined> {
  const { resume, answer } = running;
  const { master } = runner;
  if (resume === undefined || answer === undefined) return undefined;
  const { questions } = await master.status(resume);
  if (questions.length === 0) {
    out.note(`${resume} asks nothing now, so --answer is not used`);
    return undefined;
  }
  await master.answer(resume, { id: randomUUID(), text: answer });
  if (!(await master.heeded(resume))) return undefined;
  return { report: await master.status(resume), note: await heededNote(master, resume) };
}

async function begin(
  { runner, running, path = '' }: Doing,
  options: RunOptions,
): Promise<StartedRun> {
  const { master } = runner;
  const { resume, input } = running;
  if (resume !== undefined) return master.startAgain(resume, options);
  const [{ offerSurroundings }, { inputOf }, { readWorkflow }] = await Promise.all([
    import('../../master/index.ts'),
    import('../run/inputs.ts'),
    import('../run/files.ts'),
  ]);
  const workflow = readWorkflow(path);
  const given = input.map(inputOf);
  const offered = [...given, ...(await offerSurroundings(workflow, { offered: given }))];
  const query = running.query ?? (workflow.description || workflow.name);
  const taskId = await runner.request(query, workflow, offered);
  return master.start({ taskId, query, workflow, offered }, options);
}

async function show({ out, runner, running }: Doing, ended: CarriedOut): Promise<void> {
  const { report, signalled } = ended;
  const next = nextCommands(running);
  const { lastOutputs } = await import('../../master/index.ts');
  const texts: [name: string, text: string][] = [];
  for (const output of lastOutputs(report)) {
    const text = await runner.text(output);
    if (text !== undefined) texts.push([output.name, text]);
  }
  const resume = report.done ? undefined : next.resume(report.runId);
  const json = { run: report, texts: Object.fromEntries(texts), ...(resume && { resume }) };
  out.result(json, () => [
    ...(signalled === undefined
      ? [...reportLines(report, texts, { ...out, ...next }), ...hubLines(runner, next)]
      : ['suspended']),
    ...(resume === undefined ? [] : ['', ...goOnLines(report, resume)]),
  ]);
  if (report.status === 'completed') return;
  throw new Stopped(report.done ? exitCodes.failed : (signalled ?? exitCodes.waiting));
}

function showSteered({ out, runner, running }: Doing, { report, note }: Steered): void {
  const next = nextCommands(running);
  const resume = report.done ? undefined : next.resume(report.runId);
  out.result({ run: report, ...(note && { note }), ...(resume && { resume }) }, () => [
    ...standLines(report, { ...out, ...next }),
    ...hubLines(runner, next),
    ...(note === undefined ? [] : ['', note]),
    ...(resume === undefined ? [] : goOnLines(report, resume)),
  ]);
}

/** A case is looked at through a hub, and that of this command is about to end. */
const hubLines = (
  { ownsHub }: Runner,
  { serve }: Pick<ReturnType<typeof nextCommands>, 'serve'>,
): string[] => (ownsHub ? [`(first, in another terminal: ${serve()})`] : []);

/** No answer is made up in the command itself: whoever pastes it would give that one. */
const goOnLines = ({ questions }: RunReport, resume: string): string[] => [
  `Go on with: ${resume}`,
  ...(questions.length === 0 ? [] : ['with --answer TEXT; on a terminal it is asked for']),
];

/** Runs that are listed at once. */
const mostListed = 50;

async function listOpen({ out, runner }: Doing): Promise<void> {
  const open = await runner.master.openRuns();
  const reports: RunReport[] = [];
  for (const runId of open.slice(0, mostListed)) reports.push(await runner.master.status(runId));
  const runs = reports.map(({ runId, status, taskContext, reason }) => ({
    runId,
    status,
    name: taskContext.TaskName,
    ...(reason !== undefined && { reason }),
  }));
  out.result({ runs, total: open.length }, () => openRunLines(runs, open.length, out.terminal));
}
