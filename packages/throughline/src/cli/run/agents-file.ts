import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { foreignId, shortText } from '../../model/ids.ts';
import { storesSchema } from './stores.ts';

/** Bytes of such a file, at most. */
const mostBytes = 262_144;

const price = z.strictObject({ input: z.number().nonnegative(), output: z.number().nonnegative() });

const agentSchema = z
  .strictObject({
    /** Principal id: what `agent` in a workflow names. */
    id: foreignId,
    name: shortText.exactOptional(),
    /** What it is good for. */
    description: shortText.exactOptional(),
    /** Where it is served. */
    url: z.url().exactOptional(),
    /** A file to serve it from while the run goes on, beside this one. */
    module: z.string().exactOptional(),
    /** `nobody`: it knows nothing of the hub. */
    behind: z.enum(['hub', 'nobody']).default('hub'),
    /** File with the key of somebody else's agent, sent as a Bearer token. */
    keyFile: z.string().exactOptional(),
  })
  .refine(({ url, module }) => (url === undefined) !== (module === undefined), {
    error: 'needs a url, or a module to serve it from, and not both',
  });

const fileSchema = z.strictObject({
  agents: z.array(agentSchema).min(1).max(64),
  /** Where contents may lie beside the hub's store. */
  stores: storesSchema.exactOptional(),
  /** Of a million tokens, by `agent/model`, model or agent. */
  prices: z.record(z.string(), price).default({}),
  limits: z
    .strictObject({
      tokens: z.number().positive().exactOptional(),
      seconds: z.number().positive().exactOptional(),
      money: z.number().positive().exactOptional(),
      onHit: z.enum(['fail', 'ask']).exactOptional(),
    })
    .default({}),
});
export type AgentsFile = z.output<typeof fileSchema> & { readonly folder: string };

/** Reads a file that says which agents there are. @throws ThroughlineError `invalid`, `too-large`. */
export function readAgentsFile(path: string): AgentsFile {
  const text = readText(path, mostBytes);
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : '';
    throw new ThroughlineError('invalid', `${path}: is not YAML: ${why}`, { cause });
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    throw new ThroughlineError('invalid', `${path}: ${z.prettifyError(parsed.error)}`);
  }
  return { ...parsed.data, folder: dirname(resolve(path)) };
}

/** Text of a file within a bound. @throws ThroughlineError `invalid`, `too-large`. */
export function readText(path: string, bytes: number): string {
  const read = readBytes(path, bytes);
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
