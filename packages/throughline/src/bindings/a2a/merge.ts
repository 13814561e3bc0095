import type { Artifact, Message, Task } from '@a2a-js/sdk';
import { sortedJson } from './digest.ts';

const equal = (a: unknown, b: unknown): boolean => sortedJson(a) === sortedJson(b);

/** Both histories without doubles: what was there first, then what is new, each in its order. */
export function unionHistory(known: readonly Message[], added: readonly Message[]): Message[] {
  const ids = new Set(known.map(({ messageId }) => messageId));
  return [...known, ...added.filter(({ messageId }) => !ids.has(messageId))];
}

/** Our changes to a map onto theirs; undefined when both changed one entry differently. */
function mergeEntries<T>(
  base: ReadonlyMap<string, T>,
  ours: ReadonlyMap<string, T>,
  theirs: ReadonlyMap<string, T>,
): Map<string, T> | undefined {
  const merged = new Map(theirs);
  for (const [key, value] of ours) {
    const before = base.get(key);
    if (equal(before, value)) continue;
    const other = theirs.get(key);
    if (!equal(other, before) && !equal(other, value)) return undefined;
    merged.set(key, value);
  }
  return merged;
}

const byId = (artifacts: readonly Artifact[]): Map<string, Artifact> =>
  new Map(artifacts.map((artifact) => [artifact.artifactId, artifact]));
const entries = (metadata: Task['metadata']): Map<string, unknown> =>
  new Map<string, unknown>(Object.entries(metadata ?? {}));

/**
 * Puts what we changed since `base` onto what somebody else stored meanwhile. Undefined when both
 * changed the same artifact, metadata entry or state in different ways: then nobody can say which
 * is right.
 */
export function mergeTask(base: Task, ours: Task, theirs: Task): Task | undefined {
  const artifacts = mergeEntries(
    byId(base.artifacts),
    byId(ours.artifacts),
    byId(theirs.artifacts),
  );
  const metadata = mergeEntries(
    entries(base.metadata),
    entries(ours.metadata),
    entries(theirs.metadata),
  );
  const weMoved = !equal(base.status, ours.status);
  const theyMoved = !equal(base.status, theirs.status);
  if (artifacts === undefined || metadata === undefined) return undefined;
  if (weMoved && theyMoved && ours.status?.state !== theirs.status?.state) return undefined;
  return {
    ...theirs,
    status: weMoved ? ours.status : theirs.status,
    artifacts: [...artifacts.values()],
    history: unionHistory(theirs.history, ours.history),
    metadata: metadata.size === 0 ? theirs.metadata : Object.fromEntries(metadata),
  };
}
