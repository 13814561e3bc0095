import { contentRefSchema, type ContentKeeping, type ContentRef } from '../model/content.ts';
import type { Caller } from './call.ts';
import { proofHeader, tokenFrom } from './content-calls.ts';
import { contentPath } from './content-path.ts';

/** What an agent's runtime needs of its hub, over HTTP. */
export interface AgentCalls {
  /** Reads a ContextURI with the token that came beside it, and a new DPoP proof where that is bound to a key. */
  getContent(
    uri: string,
    token: string,
    prove?: () => Promise<string>,
  ): Promise<{ mediaType: string; bytes: Uint8Array }>;
  /** A token that is over, or soon is, for longer, where it was made so. */
  renewToken(token: string, prove?: () => Promise<string>): Promise<string>;
  /** Offloads output of one's own task. */
  putOutput(
    output: ContentKeeping & {
      taskId: string;
      name: string;
      mediaType: string;
      bytes: Uint8Array;
    },
  ): Promise<ContentRef>;
}

export const agentCalls = (hub: Caller): AgentCalls => ({
  getContent: async (uri, token, prove) =>
    hub.bytes({
      method: 'GET',
      path: contentPath(uri),
      headers: { 'Throughline-Content-Token': token, ...proofHeader(await prove?.()) },
      // A proof is good once.
      idempotent: prove === undefined,
    }),
  renewToken: async (token, prove) => tokenFrom(hub, 'renew', { token }, await prove?.()),
  putOutput: async ({ bytes, ...query }) =>
    // By its name in its task: put twice, it is there once.
    hub.json(
      { method: 'POST', path: '/outputs', query, bytes, idempotent: true },
      contentRefSchema,
    ),
});
