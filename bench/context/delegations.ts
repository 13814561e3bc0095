import { says, subQuestion, type Chain, type Paper } from './data.ts';
import type { Text } from './hand-over.ts';

/** What a user said in every conversation before, and of no concern to any question. */
export const canary = 'In confidence: canary-of-the-conversation-4c81';

/** What one sub-agent is asked, out of a conversation. */
interface Delegation {
  readonly question: string;
  /** Name of what is kept or lost: every one of its delegations must have what it needs. */
  readonly unit: string;
  /** The text has what the question needs. */
  readonly answered: (text: string) => boolean;
}

export interface Conversation {
  readonly texts: readonly Text[];
  readonly delegations: readonly Delegation[];
}

/** A chain's paragraphs, and a question for each of its hops. */
export const ofChain = (chain: Chain, at: number): Conversation => ({
  texts: chain.paragraphs.map(({ title, paragraph_text: text }) => ({ title, text })),
  delegations: chain.question_decomposition.map((hop) => ({
    question: subQuestion(chain, hop),
    unit: `chain ${at}`,
    answered: (text) => says(text, hop.answer),
  })),
});

/** A paper, and every question that is asked of it. */
export const ofPaper = ({ context, questions }: Paper, at: number): Conversation => ({
  texts: [{ title: '', text: context }],
  delegations: questions.map(({ question, answer }, of) => ({
    question,
    unit: `paper ${at}, ${of}`,
    answered: (text) => text.includes(answer.trimEnd()),
  })),
});

/** What stands in a conversation, in turns of the user. */
export const turnsOf = ({ texts }: Conversation): string[] => [
  canary,
  ...texts.map(({ title, text }) => (title === '' ? text : `${title}\n${text}`)),
];

/** What reached a sub-agent. */
export interface Caught {
  /** What its model was asked first, without its standing instructions. */
  readonly prompt: string;
  /** All else: what it was sent, and all that it could open. */
  readonly beside?: string;
  /** What the model of whoever delegates was asked first. */
  readonly leader?: string;
}
