import { endingOf, type Ending } from '../exit.ts';

/** What one look found. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly saw: string;
  /** What to do, where something is to be done. */
  readonly advice?: string;
  readonly failure?: Ending;
}

/** Something that works, with a remark. */
export interface Remark {
  readonly saw: string;
  readonly advice: string;
}

/** Looks once: words are well, a remark is a warning, what is thrown a failure. */
export async function check(
  name: string,
  look: () => Promise<string | Remark> | string | Remark,
): Promise<Check> {
  try {
    const found = await look();
    if (typeof found === 'string') return { name, state: 'ok', saw: found };
    return { name, state: 'warn', ...found };
  } catch (error) {
    const failure = endingOf(error);
    return { name, state: 'fail', saw: failure.message, failure };
  }
}
