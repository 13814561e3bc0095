import type { ContentKeeping, ContentRef } from '../model/content.ts';
import type { Principal } from '../model/principal.ts';

/** What an agent process needs of its hub beside the binding's ports. */
export interface AgentPorts {
  /** Who the process's own key belongs to; a hub in the same process has no need of it. */
  whoAmI?(): Promise<Principal>;
  /**
   * Reads a ContextURI with the token that came beside it. Where that is bound to a key, `prove` makes a
   * DPoP proof, a new one for each try.
   * `not-found` for any refusal; `gone` where it was open and its time is over.
   */
  getContent(
    uri: string,
    token: string,
    prove?: () => Promise<string>,
  ): Promise<{ mediaType: string; bytes: Uint8Array }>;
  /**
   * Has a token renewed that is over, or soon is. `not-found` for any refusal; `gone` where it was not made to
   * be renewed, or for no longer.
   */
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
