import type { AgentContext } from '../../model/agent-context.ts';

/** A field that MustPreserveFields names, as it stands in the AgentContext. */
export interface PreservedField {
  readonly path: string;
  /** All values under the path. */
  readonly values: readonly unknown[];
}

const contextFields: ReadonlySet<string> = new Set<keyof AgentContext>([
  'AgentID',
  'AgentName',
  'SubTaskID',
  'SubTaskName',
  'Dependencies',
  'ContextItems',
  'CompressionPolicy',
  'todoItems',
  'ItemStateUpdates',
  'KeyInformation',
  'EvaluationPolicy',
  'EvaluationResult',
  'LastUpdated',
  'Optional',
]);

/** Keys of a path such as `ContextItems[].Description`; `[]` stands for every element, `[2]` for one. */
function pathKeys(path: string): string[] {
  return path.split(/[.[]/).flatMap((key, at) => (key === '' && at === 0 ? [] : [key]));
}

/** The path begins at a field of the AgentContext; any other is one of the contents'. */
export const isOfContext = (path: string): boolean => contextFields.has(pathKeys(path)[0] ?? '');

/** The path is one of each ContextItem's: such an item is never dropped as a whole. */
export const isOfItems = (path: string): boolean => pathKeys(path)[0] === 'ContextItems';

/** All values under a path. A path that begins inside a list reaches into each of its elements. */
export function valuesAt(value: unknown, path: string): unknown[] {
  let found: unknown[] = [value];
  for (const key of pathKeys(path)) found = found.flatMap((each) => step(each, key));
  return found;
}

function step(value: unknown, key: string): unknown[] {
  if (Array.isArray(value)) {
    const elements: unknown[] = value;
    if (key === ']') return elements;
    if (/^\d+\]$/.test(key)) return elements.slice(Number.parseInt(key, 10)).slice(0, 1);
    return elements.flatMap((each) => (Array.isArray(each) ? [] : step(each, key)));
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return [];
  const entry = Object.entries(value).find(([name]) => name === key);
  return entry === undefined ? [] : [entry[1]];
}
