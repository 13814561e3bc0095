import type { ContentDriver } from '../content/content.ts';
import { cut, type CutMedia } from '../content/selectors/index.ts';
import type {
  ContentRef,
  NarrowRequest,
  Principal,
  ReadTokenRequest,
  RenewRequest,
  Revocation,
} from '../model/index.ts';
import type { StoreWriter } from '../store/store.ts';
import type { CaseAccess } from './case-access.ts';
import { Contents, type ContentInput, type OutputInput } from './content.ts';
import { ContentCuts, type CutRequest } from './content-cuts.ts';
import { ContentInStore } from './content-in-store.ts';
import { ContentObjects, objectKind } from './content-objects.ts';
import { ContentReading, type ReadContent, type Reading } from './content-reading.ts';
import { ContentEnd, contentNotes } from './content-records.ts';
import { ContentTokens } from './content-tokens.ts';
import type { ContentRegions, Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import type { Quotas } from './quotas.ts';
import type { TaskStore } from './task-records.ts';

/** Where a hub keeps offloaded content, and how it hands it out. */
export interface ContentOptions {
  /** Default: in the hub's store. The hub closes it. */
  readonly driver?: ContentDriver;
  readonly regions?: ContentRegions;
  /** Read tokens in URLs, each good once, for readers that can take nothing else. Default: none. */
  readonly inUrls?: boolean;
  /** Cuts time out of audio and video. Default: only out of WAV. */
  readonly media?: CutMedia | undefined;
}

/** What an agent's runtime needs beside the binding's ports. */
export interface AgentDesk {
  getContent(
    uri: string,
    token: string,
    prove?: () => Promise<string>,
  ): Promise<{ mediaType: string; bytes: Uint8Array }>;
  renewToken(token: string, prove?: () => Promise<string>): Promise<string>;
  putOutput(output: OutputInput): Promise<ContentRef>;
}

/** All that is done with offloaded content. Each call checks rights itself. */
export class ContentDesk {
  readonly #contents: Contents;
  readonly #reading: ContentReading;
  readonly #tokens: ContentTokens;
  readonly #cuts: ContentCuts;
  readonly #objects: ContentObjects;
  readonly #end: ContentEnd;

  constructor(
    deps: Deps,
    parts: { registries: Registries; access: CaseAccess; tasks: TaskStore; quotas: Quotas },
    options: ContentOptions = {},
  ) {
    const objects = new ContentObjects(deps, options.driver ?? new ContentInStore(deps.store));
    const contentTokens = new ContentTokens(deps, parts, options.inUrls ?? false);
    const cutting = {
      cut: (...[piece, selector]: Parameters<typeof cut>) => cut(piece, selector, options.media),
    };
    this.#objects = objects;
    this.#tokens = contentTokens;
    this.#end = new ContentEnd(deps, { ...parts, objects });
    this.#contents = new Contents(deps, { ...parts, objects });
    this.#reading = new ContentReading(deps, { ...parts, ...cutting, objects, contentTokens });
    const [contents, reading] = [this.#contents, this.#reading];
    this.#cuts = new ContentCuts(deps, { ...parts, contents, reading });
  }

  /** Where its bytes lie; for what carries them elsewhere. */
  get objects(): ContentObjects {
    return this.#objects;
  }

  put(by: Principal, content: ContentInput): Promise<ContentRef> {
    return this.#contents.put(by, content);
  }

  putOutput(by: Principal, output: OutputInput): Promise<ContentRef> {
    return this.#contents.putOutput(by, output);
  }

  /** `by` undefined: a reader who has nothing but a token, and the key it is bound to. */
  get(by: Principal | undefined, reading: Reading): Promise<ReadContent> {
    return this.#reading.get(by, reading);
  }

  /** A part of content that one may read without a token, as a Resource of its own. */
  cut(by: Principal, request: CutRequest): Promise<ContentRef> {
    return this.#cuts.cut(by, request);
  }

  readToken(by: Principal, request: ReadTokenRequest): Promise<string> {
    return this.#tokens.make(by, request);
  }

  /** The same right for longer. `proof`: of the key that the token is bound to. */
  renewToken(by: Principal, request: RenewRequest, proof?: string): Promise<string> {
    return this.#tokens.renew(by, request, proof);
  }

  /** `proof`: of the key that the token is bound to. */
  narrowToken(by: Principal | undefined, request: NarrowRequest, proof?: string): Promise<string> {
    return this.#tokens.narrow(by, request, proof);
  }

  revokeTokens(by: Principal, which: Revocation): Promise<void> {
    return this.#tokens.revoke(by, which);
  }

  /** As one agent's runtime uses it. */
  agent(by: Principal): AgentDesk {
    return {
      getContent: async (uri, token, prove) => this.get(by, { uri, token, proof: await prove?.() }),
      renewToken: async (token, prove) => this.renewToken(by, { token }, await prove?.()),
      putOutput: (output) => this.putOutput(by, output),
    };
  }

  /** In the write that erases a case. */
  eraseCase(writer: StoreWriter, activity: string): Promise<void> {
    return this.#end.ofCase(writer, activity);
  }

  /** In the sweeper's write: what became of a record whose time is over, if it is one of content. */
  async expire(writer: StoreWriter, record: { kind: string; key: string }): Promise<boolean> {
    if (record.kind === contentNotes.kind) await this.#end.expire(writer, record.key);
    else if (record.kind === objectKind) await this.#objects.doom(writer, record.key);
    return record.kind === contentNotes.kind || record.kind === objectKind;
  }

  /** Deletes bytes that nothing names any more, a bounded number; gives how many objects. */
  clear(): Promise<number> {
    return this.#objects.clear();
  }

  close(): Promise<void> {
    return this.#objects.close();
  }
}
