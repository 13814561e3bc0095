import { parseDocument } from 'yaml';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { utf8Length } from '../model/ids.ts';
import { workflowSchema, type Workflow } from '../model/workflow.ts';

/** Bytes of a workflow file, at most. */
const workflowBytes = 262_144;

/**
 * Reads a workflow file (YAML, so also JSON).
 *
 * @throws ThroughlineError `too-large`, or `invalid` with every place that is wrong.
 */
export function parseWorkflow(text: string): Workflow {
  if (utf8Length(text) > workflowBytes) {
    throw new ThroughlineError(
      'too-large',
      `A workflow file holds at most ${workflowBytes} bytes.`,
    );
  }
  const document = parseDocument(text, { version: '1.2', uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) {
    throw new ThroughlineError('invalid', `The workflow is not YAML: ${problem.message}`);
  }
  return asWorkflow(document.toJS({ maxAliasCount: 100 }));
}

/** Checks a workflow given as a value. @throws ThroughlineError `invalid`. */
export function asWorkflow(value: unknown): Workflow {
  const parsed = workflowSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ThroughlineError(
    'invalid',
    `The workflow is not valid:\n${z.prettifyError(parsed.error)}`,
  );
}
