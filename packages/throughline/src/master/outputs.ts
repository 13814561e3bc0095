import { agentContextMediaType } from '../model/agent-context.ts';
import { correlationExtension, envelopeSchema } from '../model/envelope.ts';
import { idKind } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { Part } from '../handover/parts.ts';
import { ThroughlineError } from '../errors.ts';
import type { AgentOutput, AgentTask } from './connection.ts';
import type { RunContext } from './context.ts';
import { sha256 } from './contents.ts';
import type { Attempt, Output } from './run-state.ts';

/** The AgentContext that a task returned, unchecked; undefined when there is none. */
export function returnedContext(task: AgentTask): unknown {
  for (const { parts } of task.outputs.toReversed()) {
    const part = parts.find(({ mediaType }) => mediaType === agentContextMediaType);
    if (part?.kind === 'data') return part.data;
  }
  return undefined;
}

const isContext = ({ parts }: AgentOutput): boolean =>
  parts.some(({ mediaType }) => mediaType === agentContextMediaType);

/**
 * What an attempt put out, each in the content store: what came by reference is read and checked,
 * what came by value is offloaded. Names are those of the artifacts, made distinct; what the plan asks for
 * by a name that only a part of an artifact has is that part.
 *
 * @throws ThroughlineError `invalid` for a reference that is not this attempt's own or does not hold
 *   what it says, `too-large` for more than the limits allow.
 */
export async function collectOutputs(
  run: RunContext,
  attempt: Attempt,
  task: AgentTask,
  produces: readonly { readonly name: string }[],
): Promise<Output[]> {
  const wanted = new Set(produces.map(({ name }) => name));
  for (const { name } of task.outputs) wanted.delete(name);
  const outputs = task.outputs
    .filter((output) => !isContext(output) && output.parts.length > 0)
    .flatMap((output) => separate(output, wanted));
  if (outputs.length > limits.parts) {
    throw new ThroughlineError(
      'too-large',
      `The agent put out ${outputs.length} artifacts; at most ${limits.parts} are taken.`,
    );
  }
  const collected: Output[] = [];
  for (const output of outputs) {
    const taken = collected.some(({ name }) => name === output.name);
    const name = output.name === '' || taken ? output.id : output.name;
    const [part] = output.parts;
    collected.push(
      part?.kind === 'url' && output.parts.length === 1
        ? await referenced(run, attempt, { name, url: part.url, output })
        : await offloaded(run, attempt, { name, parts: output.parts }, collected),
    );
  }
  return collected;
}

/** Its parts that are wanted by their names, and the rest as before. */
function separate(output: AgentOutput, wanted: ReadonlySet<string>): AgentOutput[] {
  const isWanted = ({ kind, name = '' }: Part): boolean => kind !== 'url' && wanted.has(name);
  const rest = output.parts.filter((part) => !isWanted(part));
  if (rest.length === output.parts.length) return [output];
  const own = output.parts
    .filter(isWanted)
    .map((part) => ({ ...output, name: part.name ?? '', parts: [part] }));
  return rest.length === 0 ? own : [...own, { ...output, parts: rest }];
}

async function referenced(
  run: RunContext,
  attempt: Attempt,
  { name, url, output }: { name: string; url: string; output: AgentOutput },
): Promise<Output> {
  const envelope = envelopeSchema.safeParse(output.metadata?.[correlationExtension]);
  const named = envelope.data?.resources?.[0];
  const resource = named?.id ?? '';
  const isNamed = idKind(resource) === 'resource' && url.endsWith(`/${resource}`);
  if (!isNamed || isForeign(run, attempt, resource)) {
    throw notOwn(name);
  }
  const { bytes, mediaType, outputOf } = await run.ports.getContent(url);
  // The Master may read more than this agent: what another Task put out is not its to give.
  if (outputOf !== attempt.task) throw notOwn(name);
  const digest = sha256(bytes);
  if (named?.digest !== undefined && named.digest !== digest) {
    throw new ThroughlineError('invalid', `Output ${name} does not hold what its digest says.`);
  }
  return { name, ref: { resource, uri: url, mediaType, size: bytes.length, digest } };
}

const notOwn = (name: string): ThroughlineError =>
  new ThroughlineError('invalid', `Output ${name} refers to what is not its own.`);

async function offloaded(
  run: RunContext,
  attempt: Attempt,
  { name, parts }: { name: string; parts: readonly Part[] },
  collected: readonly Output[],
): Promise<Output> {
  const { bytes, mediaType } = contentOf(parts);
  if (bytes.length > limits.contentBytes) {
    throw new ThroughlineError(
      'too-large',
      `Output ${name} has ${bytes.length} bytes; at most ${limits.contentBytes} are taken.`,
    );
  }
  const ref = await run.ports.putContent({
    activity: run.journal.state.activity,
    resource: run.ports.newId('resource'),
    mediaType,
    bytes,
  });
  const isNew =
    !isForeign(run, attempt, ref.resource) &&
    !collected.some((each) => each.ref.resource === ref.resource);
  return { name, ref, ...(isNew && { edge: run.ports.newId('relationship') }) };
}

/** Bytes that the run knows from elsewhere: offered, handed over, or put out by another attempt. */
function isForeign(run: RunContext, attempt: Attempt, resource: string): boolean {
  const { items, subtasks } = run.journal.state;
  const others = Object.values(subtasks)
    .flatMap(({ attempts }) => attempts)
    .filter(({ task }) => task !== attempt.task)
    .flatMap(({ outputs }) => outputs);
  return [...items, ...others].some(({ ref }) => ref.resource === resource);
}

function contentOf(parts: readonly Part[]): { bytes: Uint8Array; mediaType: string } {
  const [part] = parts;
  if (part !== undefined && parts.length === 1) return contentOfOne(part);
  if (parts.every(({ kind }) => kind === 'text')) {
    const text = parts.flatMap((each) => (each.kind === 'text' ? [each.text] : [])).join('\n');
    return { bytes: encode(text), mediaType: 'text/plain' };
  }
  const plain = parts.map((each) =>
    each.kind === 'bytes' ? { ...each, bytes: Buffer.from(each.bytes).toString('base64') } : each,
  );
  return { bytes: encode(JSON.stringify(plain)), mediaType: 'application/json' };
}

function contentOfOne(part: Part): { bytes: Uint8Array; mediaType: string } {
  const { mediaType } = part;
  if (part.kind === 'text') {
    return { bytes: encode(part.text), mediaType: mediaType ?? 'text/plain' };
  }
  if (part.kind === 'data') {
    const bytes = encode(JSON.stringify(part.data));
    return { bytes, mediaType: mediaType ?? 'application/json' };
  }
  return part.kind === 'bytes'
    ? { bytes: part.bytes, mediaType: mediaType ?? 'application/octet-stream' }
    : { bytes: encode(part.url), mediaType: 'text/uri-list' };
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
