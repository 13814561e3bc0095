import { ThroughlineError } from '../../errors.ts';
import { parseWorkflow, type Workflow } from '../../master/index.ts';
import { readText } from './agents-file.ts';

/** Bytes of a workflow file, at most. */
const mostBytes = 262_144;

/** Reads a workflow file. @throws ThroughlineError that says in which file what is wrong is. */
export function readWorkflow(path: string): Workflow {
  const text = readText(path, mostBytes);
  try {
    return parseWorkflow(text);
  } catch (cause) {
    if (!(cause instanceof ThroughlineError)) throw cause;
    throw new ThroughlineError(cause.code, `${path}: ${cause.message}`, { cause });
  }
}
