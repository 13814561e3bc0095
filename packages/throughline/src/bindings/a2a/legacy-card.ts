import type { AgentCard } from '@a2a-js/sdk';
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { Guard } from './guard.ts';

/** The SDK turns cards into those of 0.3 only on their way through a handler. */
class PublicCard extends Guard {
  override getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return this.getAgentCard();
  }
}

/** The card in the form of A2A 0.3; undefined when it names no interface of that version. */
export async function legacyCard(side: ConstructorParameters<typeof Guard>[0]): Promise<unknown> {
  const handler = new LegacyRestTransportHandler(new PublicCard(side));
  try {
    return await handler.getAuthenticatedExtendedAgentCard(new ServerCallContext());
  } catch {
    return undefined;
  }
}
