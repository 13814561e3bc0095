import { parseDocument } from 'yaml';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { utf8Length } from '../model/ids.ts';
import { workflowSchema, type Workflow } from '../model/workflow.ts';

/** Bytes of a workflow file, at most. */
const workflowBytes = 262_144;
/** How often aliases may repeat what they stand for, all in all. */
const mostAliases = 100;

/**
 * Value of YAML (so also of JSON), with aliases and merge keys within bounds.
 *
 * @throws ThroughlineError `invalid`, by the name that the text goes by.
 */
export function parseYaml(text: string, name: string): unknown {
  try {
    const document = parseDocument(text, { version: '1.2', uniqueKeys: true, merge: true });
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    return document.toJS({ maxAliasCount: mostAliases });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : '';
    throw new ThroughlineError('invalid', `${name} is not YAML: ${why}`, { cause });
  }
}

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
  return asWorkflow(parseYaml(text, 'The workflow'));
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
