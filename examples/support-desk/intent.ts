/** The shape of the desk's playbook: what a request is recognised by and what it asks. */
import type { ProductKind } from './products.ts';

/** Whose documents a question is put to. */
export type Target =
  /** Procedures that hold for all products. */
  | 'procedures'
  /** Each card the message names, or else each card held. */
  | 'cards'
  /** Each checking account named or held. */
  | 'checking'
  /** Each savings account named or held. */
  | 'savings'
  /** Each product of the kinds the customer wants to choose from. */
  | 'choice'
  /** All documents. */
  | 'anything';

/** One question an intent asks. */
export interface Ask {
  of: Target;
  text: string;
  /** For `choice`: the kinds to ask about instead of those the message asks for. */
  kinds?: readonly ProductKind[];
}

/** One kind of request. All of `when` must match the message and `unless` must not. */
export interface Intent {
  name: string;
  when: readonly RegExp[];
  unless?: RegExp;
  ask: readonly Ask[];
}

/** The same target for several questions. */
export const of = (target: Target, ...texts: string[]): Ask[] =>
  texts.map((text) => ({ of: target, text }));
