import { ThroughlineError } from '../errors.ts';
import type { RunContext } from './context.ts';
import { checkForeign } from './foreign.ts';
import type { Attempt, RunItem } from './run-state.ts';

/**
 * Looks at each item before it is handed over: that its store is trusted and has it, that it is what was
 * offered, and that it is served beyond the deadline.
 *
 * @throws ThroughlineError naming the item; `StoreAway` where its store is away for now.
 */
export async function checkHanded(
  run: Pick<RunContext, 'contents'>,
  { deadline }: Pick<Attempt, 'deadline'>,
  items: readonly RunItem[],
): Promise<void> {
  const { contents } = run;
  for (const { name, ref } of items) {
    if (ref.foreign !== undefined) checkForeign(contents.stores, name, ref.uri);
    const { expiresAt } = ref;
    if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.parse(deadline)) {
      throw new ThroughlineError(
        'gone',
        `Context item ${name} is served until ${expiresAt}, before the deadline at ${deadline}; offer it for longer, or give the subtask less time.`,
      );
    }
    // The hub's own never change; those of others may.
    await (ref.foreign === undefined ? contents.bytes(ref) : contents.look(ref));
  }
}
