import type { Output } from './output.ts';

/** Nothing is told of what takes less than this, in milliseconds, nor more often. */
const everyMs = 1_000;

/** Tells a person how far something is, once it takes a while. */
export function progress(out: Output): (line: string) => void {
  let told = Date.now();
  return (line) => {
    const now = Date.now();
    if (out.json || now - told < everyMs) return;
    told = now;
    out.note(out.terminal.paint('dim', line));
  };
}

export const counted = (count: number): string => count.toLocaleString('en');
