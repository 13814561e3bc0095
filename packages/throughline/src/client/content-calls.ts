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
  /** A narrower token for a delegate of one's own, who is named by a key alone. */
  narrowToken(request: NarrowRequest, proof?: string): Promise<string>;
  /** Takes back one token with all narrowed from it, or all made for a case until now. */
  revokeTokens(which: Revocation): Promise<void>;
}

export const contentCalls = (hub: Caller): ContentCalls => ({
  cut: async (json) =>
    hub.json({ method: 'POST', path: '/content-cuts', json, idempotent: true }, contentRefSchema),
  narrowToken: async (json, proof) => {
    const call = { method: 'POST', path: '/content-tokens/narrow', json } as const;
    const headers = proofHeader(proof);
    return (await hub.json({ ...call, headers }, z.object({ token: z.string() }))).token;
  },
  revokeTokens: async (json) =>
    hub.nothing({ method: 'POST', path: '/content-tokens/revoke', json, idempotent: true }),
});

export const proofHeader = (proof: string | undefined): Record<string, string> =>
  proof === undefined ? {} : { DPoP: proof };
