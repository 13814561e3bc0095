import { agentCard, type AgentDescription } from '../bindings/a2a/card.ts';
import type { Push } from '../bindings/a2a/push-sender.ts';
import type { GrpcOptions } from '../bindings/a2a/serve-grpc.ts';
import { serveA2a, type ServedAgent } from '../bindings/a2a/serve.ts';
import { contentAccessKey } from '../model/content.ts';
import type { Principal } from '../model/principal.ts';
import type { Terms } from '../model/terms.ts';
import { makeExecutor } from './executor.ts';
import type { AgentHandler, MessageHandler } from './handler.ts';
import type { Ports } from './io.ts';

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
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly publicUrl?: string;
  /** How the hub treats contexts, as `hub.terms` says; stated in the card. */
  readonly terms?: Terms;
  /** Serves gRPC too, on a port of its own. Default: not. */
  readonly grpc?: GrpcOptions;
  /** What push notifications need; without it the card does not offer them. */
  readonly push?: Push;
  /** What callers with an identity get to see instead of the card. */
  readonly extendedCard?: Card;
  readonly now?: () => Date;
  /** Told of what callers do not see; must not throw. */
  readonly onFault?: (error: unknown, about: { taskId?: string }) => void;
}

/** The card of an agent made with this library. */
export function cardOf(
  description: AgentDescription,
  { takesContexts }: { takesContexts: boolean },
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
          params: undefined,
        },
      ],
    },
  };
}

/**
 * Serves an agent on an address of its own: AgentContexts go to `handler`, other messages to
 * `onMessage`. What an earlier process left unfinished is taken up at once, from the handler's start.
 */
export function serveAgent(options: ServeAgentOptions): Promise<ServedAgent> {
  const { card, ports, principal, handler, onMessage, now, onFault } = options;
  const { host, port, publicUrl, terms, grpc, push, extendedCard } = options;
  return serveA2a({
    card: (url) => cardOf({ ...card, url }, { takesContexts: handler !== undefined }),
    ports,
    agent: principal,
    executor: makeExecutor({ ports, principal, handler, onMessage, now, onFault }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(terms !== undefined && { terms }),
    ...(grpc !== undefined && { grpc }),
    ...(push !== undefined && { push }),
    ...(extendedCard !== undefined && { extendedCard }),
    ...(now !== undefined && { now }),
    ...(onFault !== undefined && { onFault }),
  });
}
