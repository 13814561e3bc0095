import { randomUUID } from 'node:crypto';
import { ThroughlineError } from '../../errors.ts';
import type { Cancelled, Master } from '../../master/index.ts';
import { stopAnswers, type RunReport, type StopAnswer } from '../../model/run.ts';

/** What may be done with a run from another terminal than the one that drives it. */
export const steerings = ['status', 'suspend', 'interrupt', 'cancel'] as const;
export type Steering = (typeof steerings)[number];

export interface Steered {
  readonly report: RunReport;
  /** What a person is told of it. */
  readonly note?: string;
}

export interface SteerOptions {
  /** What the user says, for `interrupt`. */
  readonly words: string | undefined;
  /** The context item that it corrects. */
  readonly about: string | undefined;
}

/** Decides about a run, whoever drives it. */
export async function steer(
  master: Master,
  what: Steering,
  runId: string,
  { words, about }: SteerOptions,
): Promise<Steered> {
  switch (what) {
    case 'status':
      return { report: await master.status(runId) };
    case 'cancel': {
      const { answers, ...report } = await master.cancel(runId);
      return { report, note: cancelNote(answers) };
    }
    case 'suspend': {
      const { done } = await master.suspend(runId);
      const note = done ? 'it is over already' : await heededNote(master, runId);
      return { report: await master.status(runId), note };
    }
    case 'interrupt': {
      if (words === undefined) {
        throw new ThroughlineError('invalid', '--interrupt: say what changes, as in: "In May"');
      }
      const content = { id: randomUUID(), content: words };
      const { decisions } = await master.interrupt(runId, { ...content, ...(about && { about }) });
      const made = decisions.map(({ subtask, decision }) => `${decision} ${subtask}`).join(', ');
      const heeded = await heededNote(master, runId);
      return {
        report: await master.status(runId),
        note: `${made || 'it changes nothing'}; ${heeded}`,
      };
    }
    default:
      return what satisfies never;
  }
}

const cancelNotes: Readonly<Record<StopAnswer, string>> = {
  stopped: 'stopped',
  'already-over': 'were over before',
  declined: 'go on all the same, for nothing',
  unreachable: 'could not be asked to stop (those that take a key only with --agents)',
};

function cancelNote(answers: Cancelled['answers']): string {
  const told = stopAnswers.flatMap((answer) => {
    const agents = answers[answer].map(({ agent }) => agent).join(', ');
    return agents === '' ? [] : [`${agents} ${cancelNotes[answer]}`];
  });
  return told.join('; ') || 'no agent was at work';
}

export const heededNote = async (master: Master, runId: string): Promise<string> =>
  (await master.heeded(runId))
    ? 'whoever drives the run knows it'
    : 'nobody drives the run now, so it is acted on when it is resumed';
