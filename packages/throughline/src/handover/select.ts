import { ThroughlineError } from '../errors.ts';
import type { ContextItem } from '../model/agent-context.ts';

/** A context item that a Master could hand over, by the name that plans use for it. */
export interface OfferedItem {
  readonly name: string;
  readonly item: ContextItem;
}

/** What a subtask says it needs, by name. */
export interface Needs {
  readonly id: string;
  readonly needs: readonly string[];
}

/** Chooses names among those offered; whoever writes one can only narrow, never invent. */
export type Selector = (subtask: Needs, offered: readonly OfferedItem[]) => readonly string[];

export interface Selection<Item extends OfferedItem> {
  readonly chosen: readonly Item[];
  /** Names of what was left out. */
  readonly withheld: readonly string[];
}

const byNeeds: Selector = (subtask) => subtask.needs;

/**
 * Chooses the items that one subtask gets. Fails closed: when the choice throws or names an item
 * that was not offered, nothing is chosen at all. An empty choice means empty; a name chosen twice
 * is handed over once.
 *
 * @throws ThroughlineError `invalid`, naming the subtask and what was chosen wrongly.
 */
export function select<Item extends OfferedItem>(
  subtask: Needs,
  offered: readonly Item[],
  selector: Selector = byNeeds,
): Selection<Item> {
  const names = chooseNames(subtask, offered, selector);
  const unknown = [...names].filter((name) => !offered.some((item) => item.name === name));
  if (unknown.length > 0) {
    throw new ThroughlineError(
      'invalid',
      `Subtask ${subtask.id}: ${unknown.join(', ')} was chosen but not offered; nothing was handed over. Offer it, or take it out of the subtask's needs.`,
      { details: { subtask: subtask.id, unknown } },
    );
  }
  return {
    chosen: offered.filter(({ name }) => names.has(name)),
    withheld: offered.filter(({ name }) => !names.has(name)).map(({ name }) => name),
  };
}

function chooseNames(
  subtask: Needs,
  offered: readonly OfferedItem[],
  selector: Selector,
): ReadonlySet<string> {
  try {
    const names = selector(subtask, offered);
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
      throw new TypeError('it must give an array of names');
    }
    return new Set(names);
  } catch (error) {
    throw new ThroughlineError(
      'invalid',
      `Subtask ${subtask.id}: choosing its context failed, so nothing was handed over. Mend the selector.`,
      { details: { subtask: subtask.id }, cause: error },
    );
  }
}
