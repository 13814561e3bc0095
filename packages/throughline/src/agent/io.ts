import { createHash } from 'node:crypto';
import { isUint8Array } from 'node:util/types';
import { z } from 'zod';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import { ThroughlineError } from '../errors.ts';
import { isText } from '../handover/media.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { ContentAccess, ContentKeeping, ContentRef } from '../model/content.ts';
import { foreignId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { ForeignContent } from '../transports/index.ts';
import { decodeText } from './decode-text.ts';
import type { FetchedContent } from './handler.ts';
import { checkValue } from './handler-values.ts';
import type { IncomingContext } from './incoming.ts';
import type { AgentPorts } from './ports.ts';
import type { ProofKey } from './proof-key.ts';

export type Ports = AgentPorts & A2aPorts;

/** What an agent reads with, beside its ports. */
export interface ReadingMeans {
  /** Proves that read tokens are this agent's; its thumbprint is in the card. */
  readonly proofKey?: ProofKey | undefined;
  /** Other stores that ContextURIs may lead to. Default: none. */
  readonly foreign?: ForeignContent | undefined;
}

/** Reads the items of one AgentContext with the right that came along, and checks what it gets. */
export class ItemReader {
  readonly #ports: AgentPorts;
  readonly #context: AgentContext;
  readonly #access: ContentAccess | undefined;
  readonly #means: ReadingMeans;
  /** The renewed one, once there is one. */
  #token: string | undefined;
  #renewing: Promise<string> | undefined;

  constructor(ports: AgentPorts, { context, access }: IncomingContext, means: ReadingMeans = {}) {
    this.#ports = ports;
    this.#context = context;
    this.#access = access;
    this.#means = means;
  }

  async fetch(contextId: string): Promise<FetchedContent> {
    const item = this.#context.ContextItems.find(({ ContextID }) => ContextID === contextId);
    const { items = {} } = this.#access ?? {};
    const expected = Object.hasOwn(items, contextId) ? items[contextId] : undefined;
    if (item === undefined || expected === undefined) {
      throw new ThroughlineError(
        'not-found',
        `There is no item ${contextId} in this AgentContext.`,
      );
    }
    if (expected.size > limits.contentBytes) {
      throw new ThroughlineError(
        'too-large',
        `Item ${contextId} has ${expected.size} bytes; at most ${limits.contentBytes} are read.`,
      );
    }
    const { bytes, mediaType } = await this.#read(item.ContextURI, expected);
    const digest = `sha-256:${createHash('sha256').update(bytes).digest('hex')}`;
    if (bytes.length !== expected.size || digest !== expected.digest) {
      throw new ThroughlineError(
        'damaged',
        `The content of ${contextId} is not what was handed over; ask for it again.`,
      );
    }
    return {
      item,
      mediaType,
      bytes,
      text: () => decodeText(bytes, item.MediaType) ?? new TextDecoder().decode(bytes),
    };
  }

  /** From the hub, or from a store that is listed; that one gets no token but its own. */
  async #read(
    uri: string,
    { size, token: ofStore }: { size: number; token?: string },
  ): Promise<{ mediaType: string; bytes: Uint8Array }> {
    const { foreign } = this.#means;
    if (foreign?.serves(uri) === true) return foreign.get(uri, { token: ofStore, size });
    const token = this.#access?.token;
    if (token === undefined) {
      throw new ThroughlineError(
        'not-found',
        'The content lies in a store that this agent does not read from; its operator can list the host.',
      );
    }
    try {
      return await this.#fromHub(uri, this.#token ?? token);
    } catch (error) {
      const at = renewalAt(error);
      if (at === undefined) throw error;
      // Several items may find at once that their token is over: it is renewed once.
      this.#renewing ??= this.#renew(this.#token ?? token, at).finally(() => {
        this.#renewing = undefined;
      });
      return this.#fromHub(uri, await this.#renewing);
    }
  }

  #fromHub(uri: string, token: string): Promise<{ mediaType: string; bytes: Uint8Array }> {
    const { proofKey } = this.#means;
    const prove = proofKey && (() => proofKey.prove('GET', uri, token));
    return this.#ports.getContent(uri, token, prove);
  }

  async #renew(token: string, at: string): Promise<string> {
    const { proofKey } = this.#means;
    const prove = proofKey && (() => proofKey.prove('POST', at, token));
    this.#token = await this.#ports.renewToken(token, prove);
    return this.#token;
  }
}

/** Where a token that is over is renewed, when it can be. */
function renewalAt(error: unknown): string | undefined {
  const isOver = error instanceof ThroughlineError && error.code === 'gone';
  return isOver ? z.url().safeParse(error.details['renew']).data : undefined;
}

/** Outputs of one task, by name; a name given again replaces what was there. */
export class Outputs {
  readonly #ports: AgentPorts;
  readonly #taskId: string;
  readonly #refs = new Map<string, ContentRef>();
  readonly #texts = new Map<string, string>();
  #kept: ReadonlySet<string> = new Set();

  constructor(ports: AgentPorts, taskId: string) {
    this.#ports = ports;
    this.#taskId = taskId;
  }

  /** Keeps the texts of these, for whoever looks at them before they are returned. */
  keep(names: ReadonlySet<string>): void {
    this.#kept = names;
  }

  /** Of one that is kept; undefined when it is not there or no text. */
  text(name: string): string | undefined {
    return this.#texts.get(name);
  }

  get refs(): ReadonlyMap<string, ContentRef> {
    return this.#refs;
  }

  async put(
    name: string,
    mediaType: string,
    content: Uint8Array | string,
    keeping: ContentKeeping = {},
  ): Promise<ContentRef> {
    if (!foreignId.safeParse(name).success) {
      throw new ThroughlineError('invalid', 'An output needs a name that is one path segment.');
    }
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    checkValue(
      z.custom<Uint8Array>(isUint8Array, 'bytes or text are expected'),
      bytes,
      `The content of output ${name}`,
    );
    if (bytes.length > limits.contentBytes) {
      throw new ThroughlineError(
        'too-large',
        `Output ${name} has ${bytes.length} bytes; at most ${limits.contentBytes} are kept.`,
      );
    }
    const output = { ...keeping, taskId: this.#taskId, name, mediaType, bytes };
    const ref = await this.#ports.putOutput(output);
    this.#refs.set(name, ref);
    if (this.#kept.has(name) && isText(mediaType)) {
      this.#texts.set(name, new TextDecoder().decode(bytes));
    }
    return ref;
  }
}
