import type { Assertion, Dialog, LocalContext } from '../model/index.ts';
import type { Context } from './contexts.ts';

/**
 * A contextId that a client brought belongs to who brought it. Whoever is there by a grant reads our
 * own name in its place, wherever the case's Dialogs or what is said of them would tell it.
 */
export interface Mask {
  readonly brought: string;
  readonly ours: string;
}

export const maskOf = ({ contextId, ref }: Context): Mask | undefined =>
  contextId === ref ? undefined : { brought: contextId, ours: ref };

const localAs = (mask: Mask, local: LocalContext): LocalContext =>
  local.localId === mask.brought ? { ...local, localId: mask.ours } : local;

export function maskDialog(mask: Mask | undefined, dialog: Dialog): Dialog {
  if (mask === undefined) return dialog;
  return { ...dialog, local: dialog.local.map((each) => localAs(mask, each)) };
}

export function maskAssertion(mask: Mask | undefined, assertion: Assertion): Assertion {
  const { statement } = assertion;
  if (mask === undefined || !('local' in statement) || statement.local === undefined) {
    return assertion;
  }
  return { ...assertion, statement: { ...statement, local: localAs(mask, statement.local) } };
}
