import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { parseWorkflow, type Workflow } from '../../master/index.ts';
import { parseYaml } from '../../master/workflow.ts';
import { agentsFileSchema, type AgentsFile as Listed } from '../../model/agents-file.ts';

/** Bytes of a file of agents or of a workflow, at most. */
const fileBytes = 262_144;

export type AgentsFile = Listed & { readonly folder: string };

/** Reads a file that says which agents there are. @throws ThroughlineError `invalid`, `too-large`. */
export function readAgentsFile(path: string): AgentsFile {
  const parsed = agentsFileSchema.safeParse(parseYaml(readText(path), `${path}:`));
  if (!parsed.success) {
    throw new ThroughlineError('invalid', `${path}: ${z.prettifyError(parsed.error)}`);
  }
  const { limits, prices } = parsed.data;
  if (limits.money !== undefined && Object.keys(prices).length === 0) {
    throw new ThroughlineError(
      'invalid',
      `${path}: limits.money: can’t be held without a price; say under prices what a million tokens cost`,
    );
  }
  return { ...parsed.data, folder: dirname(resolve(path)) };
}

/** Reads a workflow file. @throws ThroughlineError that says in which file what is wrong is. */
export function readWorkflow(path: string): Workflow {
  const text = readText(path);
  try {
    return parseWorkflow(text);
  } catch (cause) {
    if (!(cause instanceof ThroughlineError)) throw cause;
    throw new ThroughlineError(cause.code, `${path}: ${cause.message}`, { cause });
  }
}

function readText(path: string): string {
  const read = readBytes(path, fileBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(read);
  } catch (cause) {
    throw new ThroughlineError('invalid', `${path}: is not text in UTF-8`, { cause });
  }
}

/** A file within a bound. @throws ThroughlineError `invalid`, `too-large`. */
export function readBytes(path: string, bytes: number): Uint8Array<ArrayBuffer> {
  let read: Uint8Array<ArrayBuffer>;
  try {
    read = new Uint8Array(readFileSync(path));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : '';
    throw new ThroughlineError('invalid', `${path}: can’t be read: ${why}`, { cause });
  }
  if (read.length <= bytes) return read;
  throw new ThroughlineError('too-large', `${path}: has more than ${bytes} bytes`);
}
