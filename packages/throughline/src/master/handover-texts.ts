import { ThroughlineError } from '../errors.ts';
import { utf8Length } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Handover } from '../model/usage.ts';
import type { RunContext } from './context.ts';

/** The texts of a hand-over as they are counted and kept. */
export interface HandoverTexts {
  readonly sent: string;
  readonly fullHistory: string;
}

/**
 * A text as a hub keeps it, and so as it is counted: whoever counts again has the same. One that is too
 * long is cut with a mark, which can only make the full history look smaller than it was.
 */
export function keepable(text: string): string {
  const clean = text.toWellFormed();
  if (utf8Length(clean) <= limits.bodyBytes) return clean;
  // A UTF-16 unit takes at most 3 bytes.
  const head = clean.slice(0, Math.floor(limits.bodyBytes / 3) - 64).toWellFormed();
  return `${head}\n[cut: ${clean.length - head.length} more characters]`;
}

/** A hand-over is told once: counted again by a Master that was killed in between, the first word stands. */
export async function tellHandover(
  run: RunContext,
  handover: Handover,
  texts: HandoverTexts & { readonly returned?: string },
): Promise<void> {
  try {
    await run.ports.saveHandover(handover, texts);
  } catch (error) {
    if (!(error instanceof ThroughlineError) || error.code !== 'conflict') throw error;
  }
}
