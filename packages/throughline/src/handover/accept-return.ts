import { ThroughlineError } from '../errors.ts';
import { agentContextSchema, agentWritable, type AgentContext } from '../model/agent-context.ts';
import { limits } from '../model/limits.ts';
import { assertWithin, type JsonBounds } from './json-bounds.ts';

export interface AcceptedReturn {
  readonly context: AgentContext;
  /** Paths of fields that the agent added where it may not; they are left out of the context. */
  readonly dropped: readonly string[];
}

/** What a returned AgentContext may take; full output belongs in the content store. */
export const returnBounds: JsonBounds = { bytes: 262_144, depth: limits.jsonDepth };

const writable: ReadonlySet<string> = new Set(agentWritable);

/**
 * Takes over what an agent returned: of its own AgentContext, and only the fields that it may write.
 * A changed, missing or foreign field refuses the whole return; a field that is new elsewhere is
 * dropped and named; unknown fields inside the writable ones survive.
 *
 * @throws ThroughlineError `invalid` naming the path, `too-large` beyond the bounds.
 */
export function acceptReturn(
  sent: AgentContext,
  returned: unknown,
  bounds: JsonBounds = returnBounds,
): AcceptedReturn {
  assertWithin(returned, bounds, 'The returned AgentContext');
  if (!isRecord(returned)) throw refuse('', 'is not an object');
  const dropped: string[] = [];
  const before: Readonly<Record<string, unknown>> = sent;
  for (const key of new Set([...Object.keys(before), ...Object.keys(returned)])) {
    if (!writable.has(key)) compare(before[key], returned[key], key, dropped);
  }
  const written = Object.fromEntries(
    agentWritable
      .filter((field) => Object.hasOwn(returned, field))
      .map((field) => [field, returned[field]]),
  );
  const parsed = agentContextSchema.safeParse({ ...sent, ...written });
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw refuse(pathOf(issue?.path ?? []), `does not fit: ${issue?.message ?? 'not valid'}`);
  }
  checkOwnership(sent, parsed.data);
  return { context: parsed.data, dropped };
}

/** Walks both sides; collects what is new on the right and throws on what differs. */
function compare(before: unknown, after: unknown, path: string, dropped: string[]): void {
  if (before === undefined) {
    if (after !== undefined) dropped.push(path);
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) throw refuse(path, 'was changed');
    for (const [at, value] of before.entries())
      compare(value, after[at], `${path}[${at}]`, dropped);
    return;
  }
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(own(before, key), own(after, key), `${path}.${key}`, dropped);
    }
    return;
  }
  if (before !== after) throw refuse(path, after === undefined ? 'is missing' : 'was changed');
}

/** Items and criteria that are not this subtask's, or that are named twice. */
function checkOwnership(sent: AgentContext, returned: AgentContext): void {
  const items = new Set(sent.todoItems.map(({ itemID }) => itemID));
  const criteria = new Set(
    sent.EvaluationPolicy.SuccessCriteria.map(({ CriterionID }) => CriterionID),
  );
  const checks = [
    ['ItemStateUpdates', 'itemID', items, returned.ItemStateUpdates.map((u) => u.itemID)],
    ['KeyInformation', 'itemID', items, returned.KeyInformation.map((k) => k.itemID)],
    [
      'EvaluationResult.CriterionResults',
      'CriterionID',
      criteria,
      returned.EvaluationResult.CriterionResults.map((c) => c.CriterionID),
    ],
  ] as const;
  for (const [field, key, allowed, ids] of checks) {
    for (const [at, id] of ids.entries()) {
      if (!allowed.has(id)) throw refuse(`${field}[${at}].${key}`, 'names what was not asked');
      if (ids.indexOf(id) !== at) throw refuse(`${field}[${at}].${key}`, 'is named twice');
    }
  }
}

function refuse(path: string, problem: string): ThroughlineError {
  const where = path === '' ? 'The return' : path;
  return new ThroughlineError(
    'invalid',
    `${where} ${problem}. An agent returns its own AgentContext and changes only ${agentWritable.join(', ')}.`,
    { details: { path } },
  );
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) =>
      typeof key === 'number'
        ? `${text}[${key}]`
        : `${text}${text === '' ? '' : '.'}${String(key)}`,
    '',
  );
}

const own = (record: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(record, key) ? record[key] : undefined;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
