import { z } from 'zod';
import {
  contentRefSchema,
  type ContentRef,
  type NarrowRequest,
  type Revocation,
} from '../model/content.ts';
import type { Selector } from '../model/resource.ts';
import type { Caller } from './call.ts';

/** Parts of offloaded content and rights to read it, over HTTP. */
export interface ContentCalls {
  /** Part of content of one's own, as a Resource with a digest of its own. */
  cut(request: { uri: string; selector: Selector; resource: string }): Promise<ContentRef>;
  /** The same right for longer, for the reader that a renewable token was made for. */
  renewToken(token: string, proof?: string): Promise<string>;
  /** A narrower token for a delegate of one's own, who is named by a key alone. */
  narrowToken(request: NarrowRequest, proof?: string): Promise<string>;
  /** Takes back one token with all narrowed from it, or all made for a case until now. */
  revokeTokens(which: Revocation): Promise<void>;
}

export const contentCalls = (hub: Caller): ContentCalls => ({
  cut: async (json) =>
    hub.json({ method: 'POST', path: '/content-cuts', json, idempotent: true }, contentRefSchema),
  renewToken: async (token, proof) => tokenFrom(hub, 'renew', { token }, proof),
  narrowToken: async (request, proof) => tokenFrom(hub, 'narrow', request, proof),
  revokeTokens: async (json) =>
    hub.nothing({ method: 'POST', path: '/content-tokens/revoke', json, idempotent: true }),
});

/** A proof is good once, so that a call with one is not repeated. */
export async function tokenFrom(
  hub: Caller,
  by: 'renew' | 'narrow',
  json: unknown,
  proof: string | undefined,
): Promise<string> {
  const path = `/content-tokens/${by}`;
  const call = { method: 'POST', path, json, headers: proofHeader(proof) } as const;
  const idempotent = by === 'renew' && proof === undefined;
  return (await hub.json({ ...call, idempotent }, z.object({ token: z.string() }))).token;
}

export const proofHeader = (proof: string | undefined): Record<string, string> =>
  proof === undefined ? {} : { DPoP: proof };
