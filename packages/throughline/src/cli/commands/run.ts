import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import type { OnQuestion, RunOptions, StartedRun } from '../../master/index.ts';
import type { RunReport } from '../../model/run.ts';
import { command, hubOf, outputOf, parseOptions, withHub, type Surroundings } from '../command.ts';
import { exitCodes, Stopped } from '../exit.ts';
import type { Output } from '../output.ts';
import type { Runner } from '../run/runner.ts';
import type { Shown } from '../run/show-progress.ts';
import { reportLines } from '../views/run-report.ts';

const runSchema = z.object({
  data: z.string(),
  hub: z.string().exactOptional(),
  keyFile: z.string().exactOptional(),
  agents: z.string(),
  input: z.array(z.string()).default([]),
  query: z.string().exactOptional(),
  parallel: z.coerce.number().int().min(1).max(64).exactOptional(),
  resume: z.string().exactOptional(),
  cancel: z.string().exactOptional(),
  answer: z.string().exactOptional(),
});
type Running = z.output<typeof runSchema>;

/** `throughline run`: one workflow to its end, on a hub that is up or for the time being. */
export const runCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('run', 'Runs a workflow with its agents to its end', [
      'run answer.yaml --agents agents.yaml --input letter=@letter.txt',
      'run answer.yaml --agents agents.yaml --query "Answer" --json',
      'run --resume tsk_01h… --agents agents.yaml',
      'run --resume tsk_01h… --agents agents.yaml --answer "In May"',
      'run --cancel tsk_01h… --agents agents.yaml',
    ]),
  )
    .argument('[workflow]', 'file with the plan; not with --resume or --cancel')
    .requiredOption('--agents <file>', 'file that says which agents there are, and where')
    .option('--input <name=value...>', 'offers text, or with name=@file a file')
    .option('--query <text>', 'the request in words (default: what the workflow says of itself)')
    .option('--parallel <n>', 'subtasks at work at once (default: 4)')
    .addOption(new Option('--resume <run>', 'goes on with a run').conflicts(['input', 'query']))
    .addOption(new Option('--cancel <run>', 'ends a run').conflicts(['input', 'query', 'resume']))
    .option('--answer <text>', 'answers what the run that is resumed asks')
    .action(async (path: string | undefined, options: unknown) => {
      const running = parseOptions(runSchema, options);
      checkWhat(path, running);
      const out = outputOf(surroundings, options);
      // Only here: everybody else's commands start without a hub and what runs on it.
      const { readAgentsFile } = await import('../run/agents-file.ts');
      const { Runner: Runners } = await import('../run/runner.ts');
      const runner = await Runners.open({
        hub: (running.hub ?? running.keyFile) === undefined ? undefined : () => hubOf(options),
        data: running.data,
        agents: readAgentsFile(running.agents),
        parallel: running.parallel,
        onFault: (error) => out.note(error instanceof Error ? error.message : String(error)),
      });
      try {
        const report = await carryOut(surroundings, { out, runner, running, path });
        await runner.tell(report);
        await show(out, runner, report, running);
      } finally {
        await runner.close();
      }
    });

function checkWhat(path: string | undefined, { resume, cancel, answer }: Running): void {
  const named = [path, resume, cancel].filter((each) => each !== undefined);
  if (named.length !== 1) {
    throw new ThroughlineError('invalid', 'run: give one of a workflow file, --resume, --cancel');
  }
  if (answer !== undefined && resume === undefined) {
    throw new ThroughlineError('invalid', '--answer: belongs to --resume');
  }
}

interface Carried {
  readonly out: Output;
  readonly runner: Runner;
  readonly running: Running;
  readonly path: string | undefined;
}

async function carryOut(surroundings: Surroundings, carried: Carried): Promise<RunReport> {
  const { runner, running, out } = carried;
  const { master } = runner;
  if (running.cancel !== undefined) return master.cancel(running.cancel);
  const { inPipe, onTerminal } = await import('../run/show-progress.ts');
  let started: StartedRun | undefined;
  const isTerminal = surroundings.stdout.isTTY === true && !out.json;
  const shown = isTerminal
    ? onTerminal(surroundings, out.terminal, () => started?.progress)
    : inPipe(out.json ? { ...surroundings, stderr: { write: () => undefined } } : surroundings);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new Error('interrupted'));
  process.once('SIGINT', onSignal);
  try {
    started = await begin(carried, {
      signal: stop.signal,
      onEvent: shown.onEvent,
      ...(isTerminal && { onQuestion: asking(shown) }),
    });
    return await started.report;
  } catch (error) {
    const runId = started?.progress.runId ?? '';
    if (!stop.signal.aborted) throw error;
    if (runId === '') throw new Stopped(exitCodes.failed, 'Nothing was begun.');
    throw new Stopped(
      exitCodes.waiting,
      `Left as it stands; go on with: throughline run --resume ${runId} --agents ${running.agents}`,
    );
  } finally {
    process.off('SIGINT', onSignal);
    shown.end();
  }
}

async function begin(
  { runner, running, path = '' }: Carried,
  options: RunOptions,
): Promise<StartedRun> {
  const { master } = runner;
  const { resume, answer, input } = running;
  if (resume !== undefined) {
    if (answer !== undefined) await master.answer(resume, { id: randomUUID(), text: answer });
    return master.startAgain(resume, options);
  }
  const [{ offerSurroundings, parseWorkflow }, { inputOf }, { readText }] = await Promise.all([
    import('../../master/index.ts'),
    import('../run/inputs.ts'),
    import('../run/agents-file.ts'),
  ]);
  const text = readText(path, 262_144);
  const workflow = inFile(path, () => parseWorkflow(text));
  const given = input.map(inputOf);
  const offered = [...given, ...(await offerSurroundings(workflow, { offered: given }))];
  const query = running.query ?? (workflow.description || workflow.name);
  const taskId = await runner.request(query, workflow, offered);
  return master.start({ taskId, query, workflow, offered }, options);
}

/** Says in which file what is wrong is. */
function inFile<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof ThroughlineError)) throw cause;
    throw new ThroughlineError(cause.code, `${path}: ${cause.message}`, { cause });
  }
}

/** Asks whoever sits at the terminal; nothing said leaves the question open. */
const asking =
  (shown: Shown): OnQuestion =>
  async ({ signal }) => {
    shown.pause();
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const said = await reader.question('> ', { signal });
      return said.trim() === '' ? undefined : said;
    } catch {
      return undefined;
    } finally {
      reader.close();
    }
  };

async function show(
  out: Output,
  runner: Runner,
  report: RunReport,
  { agents }: Running,
): Promise<void> {
  const last = report.subtasks.findLast(({ outputs }) => outputs.length > 0)?.outputs ?? [];
  const texts: [name: string, text: string][] = [];
  for (const output of last) {
    const text = await runner.text(output);
    if (text !== undefined) texts.push([output.name, text]);
  }
  out.result({ run: report, texts: Object.fromEntries(texts) }, () => [
    ...reportLines(report, texts, out.terminal),
    ...(report.done
      ? []
      : ['', `Go on with: throughline run --resume ${report.runId} --agents ${agents}`]),
  ]);
  if (report.status === 'completed') return;
  throw new Stopped(report.done ? exitCodes.failed : exitCodes.waiting);
}
