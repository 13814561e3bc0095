import type { Dialog, Task } from '../case/case-index.ts';

/** How a state looks. Each has a shape of its own, so that colour never says it alone. */
type Tone = 'bad' | 'wait' | 'busy' | 'done' | 'rest';

export type Shape =
  | 'check'
  | 'clock'
  | 'cross'
  | 'dash'
  | 'half'
  | 'hollow'
  | 'pause'
  | 'question'
  | 'square'
  | 'dot'
  | 'warning';

export interface StateWords {
  readonly tone: Tone;
  readonly shape: Shape;
  readonly text: string;
}

type Look = readonly [tone: Tone, shape: Shape, text?: string];

const taskLooks: Readonly<Record<Task['state'], Look>> = {
  defined: ['rest', 'hollow', 'not started'],
  'in-progress': ['busy', 'half', 'in progress'],
  awaiting: ['wait', 'pause', 'waiting'],
  interrupted: ['wait', 'dash'],
  completed: ['done', 'check'],
  failed: ['bad', 'cross'],
  cancelled: ['rest', 'dash'],
  rejected: ['bad', 'cross'],
  'timed-out': ['bad', 'clock', 'timed out'],
};

const dialogLooks: Readonly<Record<Dialog['state'], Look>> = {
  initiating: ['rest', 'hollow', 'opening'],
  active: ['busy', 'dot'],
  interrupted: ['wait', 'dash'],
  suspended: ['wait', 'pause'],
  terminated: ['rest', 'square', 'ended'],
};

export function taskWords({ state, awaiting, outcome, unresolved }: Task): StateWords {
  const [tone, shape, text = state] = taskLooks[state];
  if (unresolved === true)
    return { tone: 'wait', shape: 'question', text: `${text}, outcome unknown` };
  if (outcome === 'error') return { tone: 'bad', shape: 'cross', text: `${text} with an error` };
  if (awaiting !== undefined) return { tone, shape, text: `waiting for ${awaiting}` };
  return { tone, shape, text };
}

export function dialogWords({ state, reason, endInferred }: Dialog): StateWords {
  const [tone, shape, text = state] = dialogLooks[state];
  const why = reason === undefined || reason === 'completed' ? '' : `: ${reason}`;
  const isBad = reason === 'failed' || reason === 'rejected';
  return {
    tone: isBad ? 'bad' : tone,
    shape: isBad ? 'cross' : shape,
    text: `${text}${why}${endInferred === true ? ', inferred' : ''}`,
  };
}

export const closedWords = (closed: boolean): StateWords =>
  closed
    ? { tone: 'rest', shape: 'square', text: 'closed' }
    : { tone: 'busy', shape: 'dot', text: 'open' };

/** Facts of a Task beside its state. */
export function taskMarks(task: Task): string[] {
  return [
    ...(task.cancelRequested === true ? ['cancel requested'] : []),
    ...(task.contested === undefined ? [] : ['contested']),
  ];
}
