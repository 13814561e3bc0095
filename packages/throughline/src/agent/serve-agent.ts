import { agentCard, type AgentDescription } from '../bindings/a2a/card.ts';
import type { Push } from '../bindings/a2a/push-sender.ts';
import type { GrpcOptions } from '../bindings/a2a/serve-grpc.ts';
import { serveA2a, type ServedAgent } from '../bindings/a2a/serve.ts';
import { contentAccessKey, proofKeyParam } from '../model/content.ts';
import type { Principal } from '../model/principal.ts';
import type { Terms } from '../model/terms.ts';
import { checkStart } from './check-start.ts';
import { makeExecutor } from './executor.ts';
import type { ForeignContent } from '../transports/index.ts';
import type { AgentHandler, MessageHandler } from './handler.ts';
import type { Ports } from './io.ts';
import type { Rewriter } from './rewriter.ts';
import type { CodeReader } from './tree-sitter.ts';
import type { ProofKey } from './proof-key.ts';

type Card = ReturnType<typeof agentCard>;

export interface ServeAgentOptions {
  readonly card: Omit<AgentDescription, 'url'>;
  /** Of a hub in this process, or of a client of one. */
  readonly ports: Ports;
  /** The agent's own principal; AgentContexts are taken when AgentID is its id. */
  readonly principal: Principal;
  /** Does subtasks. With it the card declares the extension for AgentContexts. */
  readonly handler?: AgentHandler;
  /** Answers messages without an AgentContext. */
  readonly onMessage?: MessageHandler;
  /** Shorten texts where a CompressionPolicy lets them be rewritten. Default: none, texts are extracted. */
  readonly rewriters?: readonly Rewriter[];
  /** Makes outlines of code, as `treeSitter()` does. Default: code stays whole or is left out. */
  readonly code?: CodeReader;
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly publicUrl?: string;
  /** AgentContexts may come in over plain http from other machines: a network that is private anyhow. */
  readonly plainHttp?: boolean;
  /** How the hub treats contexts, as `hub.terms` says; stated in the card. */
  readonly terms?: Terms;
  /** Serves gRPC too, on a port of its own. Default: not. */
  readonly grpc?: GrpcOptions;
  /** What push notifications need; without it the card does not offer them. */
  readonly push?: Push;
  /** What callers with an identity get to see instead of the card. */
  readonly extendedCard?: Card;
  /** Read tokens made for this agent are bound to it; see `makeProofKey`. */
  readonly proofKey?: ProofKey;
  /** Stores other than the hub's that ContextURIs may lead to; see `createForeignContent`. Default: none. */
  readonly foreign?: ForeignContent;
  /**
   * Told after a task was cancelled on request, also one that waits for an answer, where no handler runs:
   * for what goes on elsewhere because of it, as a Master's run does. Told at least once: a cancellation
   * that is repeated is told again, and at the start all of the last day are, since the process before may
   * have died in between.
   */
  readonly onCancel?: (taskId: string) => Promise<void> | void;
  readonly now?: () => Date;
  /** Told of what callers do not see; must not throw. */
  readonly onFault?: (error: unknown, about: { taskId?: string }) => void;
}

/** The card of an agent made with this library. */
export function cardOf(
  description: AgentDescription,
  { takesContexts, proofKey }: { takesContexts: boolean; proofKey?: ProofKey | undefined },
): Card {
  const card = agentCard(description);
  if (!takesContexts || card.capabilities === undefined) return card;
  return {
    ...card,
    capabilities: {
      ...card.capabilities,
      extensions: [
        ...card.capabilities.extensions,
        {
          uri: contentAccessKey,
          description: 'Takes an AgentContext as one part and returns it as an artifact.',
          required: false,
          params: proofKey && { [proofKeyParam]: proofKey.thumbprint },
        },
      ],
    },
  };
}

/**
 * Serves an agent on an address of its own: AgentContexts go to `handler`, other messages to
 * `onMessage`. What an earlier process left unfinished is taken up at once, from the handler's start.
 *
 * @throws ThroughlineError `invalid` with neither of them, with another's key, or where AgentContexts
 *   would come in over plain http from elsewhere; `unauthenticated` for a key that the hub does not know.
 */
export async function serveAgent(options: ServeAgentOptions): Promise<ServedAgent> {
  await checkStart(options);
  const { card, principal, handler, onMessage, ...others } = options;
  const { rewriters, code, proofKey, foreign, ...rest } = others;
  const { plainHttp: _, ...serving } = rest;
  const { ports, now, onFault } = serving;
  const does = { handler, onMessage, rewriters, code, proofKey, foreign };
  return serveA2a({
    ...serving,
    card: (url) => cardOf({ ...card, url }, { takesContexts: handler !== undefined, proofKey }),
    agent: principal,
    executor: makeExecutor({ ports, principal, now, onFault, ...does }),
  });
}
