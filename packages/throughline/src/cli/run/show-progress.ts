import { Writable } from 'node:stream';
import { createLogUpdate } from 'log-update';
import {
  describeEvent,
  type RunEvent,
  type RunProgress,
  type SubtaskProgress,
} from '../../master/index.ts';
import type { Streams } from '../output.ts';
import { clean, pad, widthOf, type Style, type Terminal } from '../terminal.ts';

/** Milliseconds between two pictures of the spinner. */
const frameMs = 120;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const barWidth = 10;

const marks: Partial<Record<SubtaskProgress['status'], readonly [mark: string, style: Style]>> = {
  completed: ['✔', 'green'],
  failed: ['✘', 'red'],
  unresolved: ['?', 'red'],
  cancelled: ['–', 'dim'],
  skipped: ['–', 'dim'],
  awaiting: ['?', 'yellow'],
  suspended: ['‖', 'yellow'],
  waiting: ['·', 'dim'],
};

/** The lines of one moment: a subtask each, with a bar of its items. */
export function progressLines(
  { subtasks, question, ending }: RunProgress,
  terminal: Terminal,
  frame = '…',
): string[] {
  const { paint, width } = terminal;
  const names = Math.min(32, Math.max(0, ...subtasks.map(({ name }) => widthOf(clean(name)))));
  const lines = subtasks.map((subtask) => {
    const { status, items } = subtask;
    const [mark, style] = marks[status] ?? [frame, 'cyan'];
    const done = items.filter(({ state }) => state === 1).length;
    const full = items.length === 0 ? 0 : Math.round((barWidth * done) / items.length);
    const bar = '█'.repeat(full) + '░'.repeat(barWidth - full);
    const name = pad(terminal.fit(clean(subtask.name), names), names);
    const note = noteOf(subtask);
    const plain = `  ${mark} ${name} ${bar} ${done}/${items.length} `;
    const room = width === undefined ? note.length : width - widthOf(plain);
    const shown = note === '' || room < 4 ? '' : paint('dim', terminal.fit(note, room));
    return `  ${paint(style, mark)} ${name} ${paint('cyan', bar)} ${done}/${items.length} ${shown}`;
  });
  const own = question ?? ending?.reason;
  return own === undefined ? lines : [...lines, `  ${paint('yellow', clean(own))}`];
}

function noteOf({ agent, attempt, status, ...subtask }: SubtaskProgress): string {
  const { notReached, question, reason } = subtask;
  if (notReached !== undefined) return `${agent} is not reached: ${clean(notReached)}`;
  if (question !== undefined) return `asks: ${clean(question)}`;
  if (status === 'waiting') return '';
  const again = attempt > 1 ? `, try ${attempt}` : '';
  return `${agent}${again}${reason === undefined ? '' : `: ${clean(reason)}`}`;
}

export interface Shown {
  /** Told of every event. */
  readonly onEvent: (event: RunEvent) => void;
  /** The picture stays as it is, so that something else may be written. */
  pause(): void;
  /** Draws the last picture and leaves it standing. */
  end(): void;
}

/** Shows a run on a terminal, as a picture that is drawn over itself. */
export function onTerminal(
  streams: Streams,
  terminal: Terminal,
  progress: () => RunProgress | undefined,
): Shown {
  const stream = Object.assign(
    new Writable({
      write: (chunk, _, done) => {
        streams.stderr.write(String(chunk));
        done();
      },
    }),
    { columns: terminal.width, isTTY: true },
  );
  const update = createLogUpdate(stream);
  let turn = 0;
  let isPaused = false;
  const draw = (frame?: string): void => {
    const now = progress();
    if (now !== undefined && !isPaused) update(progressLines(now, terminal, frame).join('\n'));
  };
  const timer = setInterval(() => draw(frames[turn++ % frames.length]), frameMs);
  return {
    onEvent: () => {
      isPaused = false;
    },
    pause: () => {
      draw();
      isPaused = true;
      update.done();
    },
    end: () => {
      clearInterval(timer);
      isPaused = false;
      draw();
      update.done();
    },
  };
}

/** Shows a run in a pipe: a line each. */
export const inPipe = (streams: Streams): Shown => ({
  onEvent: (event) => {
    const line = describeEvent(event);
    if (line !== undefined) streams.stderr.write(`${clean(line)}\n`);
  },
  pause: () => undefined,
  end: () => undefined,
});
