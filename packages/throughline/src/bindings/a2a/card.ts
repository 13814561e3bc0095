import {
  AgentCard,
  A2A_PROTOCOL_VERSION,
  type AgentExtension,
  type AgentInterface,
} from '@a2a-js/sdk';
import { correlationExtension } from '../../model/envelope.ts';
import { legacyVersion } from './version.ts';

/** What a client may know of how contexts are treated; stated in the card. */
export interface ContextTerms {
  /** `refuse`: only ids that were issued here; `adopt`: a client may bring its own. */
  readonly contextPolicy?: 'refuse' | 'adopt';
  /** Seconds that an unused context is kept; absent: for good. */
  readonly contextSeconds?: number;
  /** Seconds that a finished task's record is kept; absent: as long as its context. */
  readonly taskSeconds?: number;
}

/** The extension as the card declares it: never required, a client without it just works. */
const correlationDeclaration = (terms: ContextTerms): AgentExtension => ({
  uri: correlationExtension,
  description: 'Correlation of dialogs, tasks and resources across agents; shared context ids.',
  required: false,
  params: { ...terms, contextPolicy: terms.contextPolicy ?? 'refuse' },
});

export const declaresCorrelation = (card: AgentCard): boolean =>
  card.capabilities?.extensions.some(({ uri }) => uri === correlationExtension) === true;

/** The card with the extension in it, once, and what is really offered. */
export function withCorrelation(
  card: AgentCard,
  terms: ContextTerms,
  offers: { readonly push: boolean; readonly extended: boolean },
): AgentCard {
  const others = card.capabilities?.extensions.filter(({ uri }) => uri !== correlationExtension);
  return {
    ...card,
    capabilities: {
      streaming: card.capabilities?.streaming ?? true,
      extendedAgentCard: offers.extended,
      pushNotifications: offers.push,
      extensions: [...(others ?? []), correlationDeclaration(terms)],
    },
  };
}

export interface AgentDescription {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Where it is reached over JSON-RPC and HTTP+JSON. */
  readonly url: string;
  readonly skills?: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly tags?: readonly string[];
  }[];
  readonly streaming?: boolean;
}

/** A card for an agent that speaks A2A 1.0 and 0.3 over JSON-RPC and HTTP+JSON; it takes an API key. */
export function agentCard(agent: AgentDescription): AgentCard {
  const modes = ['text/plain', 'application/json'];
  return AgentCard.fromJSON({
    name: agent.name,
    description: agent.description,
    version: agent.version,
    supportedInterfaces: [
      { url: agent.url, protocolBinding: 'JSONRPC', protocolVersion: A2A_PROTOCOL_VERSION },
      { url: agent.url, protocolBinding: 'HTTP+JSON', protocolVersion: A2A_PROTOCOL_VERSION },
      { url: agent.url, protocolBinding: 'JSONRPC', protocolVersion: legacyVersion },
      { url: agent.url, protocolBinding: 'HTTP+JSON', protocolVersion: legacyVersion },
    ],
    capabilities: { streaming: agent.streaming ?? true, extensions: [] },
    securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: (agent.skills ?? []).map((skill) => ({ tags: [], ...skill })),
  });
}

const isNow = ({ protocolVersion }: AgentInterface): boolean =>
  protocolVersion === A2A_PROTOCOL_VERSION;

/** The card with gRPC interfaces of both versions, each after the others of its version. */
export function withGrpc(card: AgentCard, address: string): AgentCard {
  const { supportedInterfaces } = card;
  if (supportedInterfaces.some(({ protocolBinding }) => protocolBinding === 'GRPC')) return card;
  const added = (protocolVersion: string): AgentInterface => ({
    url: address,
    protocolBinding: 'GRPC',
    protocolVersion,
    tenant: '',
  });
  const older = supportedInterfaces.filter((each) => !isNow(each));
  return {
    ...card,
    supportedInterfaces: [
      ...supportedInterfaces.filter(isNow),
      added(A2A_PROTOCOL_VERSION),
      ...older,
      ...(older.length === 0 ? [] : [added(legacyVersion)]),
    ],
  };
}
