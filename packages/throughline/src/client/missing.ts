import { ThroughlineError } from '../errors.ts';

/** `undefined` for what the hub says is not there. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'not-found') return undefined;
    throw error;
  }
}
