import { countTokens } from 'throughline/handover';
import {
  canary,
  ofChain,
  ofPaper,
  turnsOf,
  type Caught,
  type Conversation,
} from './delegations.ts';
import { halves, readChains, readPapers } from './data.ts';
import { catchOurs } from './ours.ts';
import { catchTheirs, nameOf, type Framework } from './peers.ts';
import { row, type Row } from './row.ts';

/** What sub-agents were sent of these conversations. */
export interface Sent {
  /** Tokens of the prompt ÷ tokens of what stands in the conversation, over all delegations. */
  readonly tokens: number;
  /** Share of what has to be kept of which every prompt has what it needs. */
  readonly kept: number;
  /** Share of delegations of which anything that reached the sub-agent has what was said in confidence. */
  readonly leaked: number;
  /** Tokens of what the model of whoever delegates reads, by the same measure; undefined without one. */
  readonly leader?: number | undefined;
}

export function measureSent(
  conversations: readonly Conversation[],
  caught: readonly Caught[],
): Sent {
  const all = conversations.flatMap((conversation) => {
    const tokens = countTokens(turnsOf(conversation).join('\n'));
    return conversation.delegations.map((delegation) => ({ ...delegation, tokens }));
  });
  const lost = new Set<string>();
  let [tokens, leader, leaked] = [0, 0, 0];
  for (const [at, delegation] of all.entries()) {
    const { prompt, beside = '', leader: led = '' } = caught[at] ?? { prompt: '' };
    if (!delegation.answered(prompt)) lost.add(delegation.unit);
    tokens += countTokens(prompt) / delegation.tokens;
    leader += countTokens(led) / delegation.tokens;
    leaked += Number([prompt, beside].some((text) => text.includes(canary)));
  }
  return {
    tokens: tokens / all.length,
    kept: 1 - lost.size / new Set(all.map(({ unit }) => unit)).size,
    leaked: leaked / all.length,
    ...(leader > 0 && { leader: leader / all.length }),
  };
}

/** What reaches a sub-agent, beside what frameworks send theirs of the same conversation. */
export async function besideRows(share: number, frameworks: readonly Framework[]): Promise<Row[]> {
  const sets = [
    ['MuSiQue', halves(readChains()).reported.map(ofChain)],
    ['COVID-QA', halves(readPapers()).reported.map(ofPaper)],
  ] as const;
  const rows: Row[] = [];
  for (const [name, conversations] of frameworks.length === 0 ? [] : sets) {
    const ours = measureSent(conversations, await catchOurs(conversations, share));
    for (const framework of frameworks) {
      const theirs = measureSent(conversations, catchTheirs(framework, conversations));
      rows.push(rowOf(name, ours, { ...theirs, by: nameOf(framework) }));
    }
  }
  return rows;
}

const rowOf = (name: string, ours: Sent, { by, ...theirs }: Sent & { readonly by: string }): Row =>
  row({
    name: `${name}, a question delegated by ${by}`,
    unit: 'of the tokens of the conversation in the first prompt of the sub-agent',
    ours: ours.tokens,
    beside: theirs.tokens,
    besideWhat: by,
    spread: {
      'kept, ours': ours.kept,
      'kept, theirs': theirs.kept,
      'sub-agents that what was said in confidence reached, ours': ours.leaked,
      'sub-agents that it reached, theirs': theirs.leaked,
      ...(theirs.leader !== undefined && { 'tokens that their leader reads': theirs.leader }),
    },
  });
