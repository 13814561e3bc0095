import type { ContentRef } from '../model/content.ts';

/** What an agent process needs of its hub beside the binding's ports. */
export interface AgentPorts {
  /** Reads a ContextURI with the token that came beside it; `not-found` for any refusal. */
  getContent(uri: string, token: string): Promise<{ mediaType: string; bytes: Uint8Array }>;
  /** Offloads output of one's own task. */
  putOutput(output: {
    taskId: string;
    name: string;
    mediaType: string;
    bytes: Uint8Array;
  }): Promise<ContentRef>;
}
