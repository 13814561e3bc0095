import { createHash } from 'node:crypto';
import type { A2aPorts } from '../bindings/a2a/ports.ts';
import { ThroughlineError } from '../errors.ts';
import { compress, type Compressed, type FetchedItem } from '../handover/compress.ts';
import { isText } from '../handover/media.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { ContentAccess, ContentRef } from '../model/content.ts';
import { foreignId } from '../model/ids.ts';
import { limits } from '../model/limits.ts';
import type { FetchedContent } from './handler.ts';
import type { AgentPorts } from './ports.ts';

export type Ports = AgentPorts & A2aPorts;

/** Reads the items of one AgentContext, each with its own right, and checks what it gets. */
export class ItemReader {
  readonly #ports: AgentPorts;
  readonly #context: AgentContext;
  readonly #access: ContentAccess;

  constructor(ports: AgentPorts, context: AgentContext, access: ContentAccess) {
    this.#ports = ports;
    this.#context = context;
    this.#access = access;
  }

  async fetch(contextId: string): Promise<FetchedContent> {
    const item = this.#context.ContextItems.find(({ ContextID }) => ContextID === contextId);
    const access = Object.hasOwn(this.#access, contextId) ? this.#access[contextId] : undefined;
    if (item === undefined || access === undefined) {
      throw new ThroughlineError(
        'not-found',
        `There is no item ${contextId} in this AgentContext.`,
      );
    }
    if (access.size > limits.contentBytes) {
      throw new ThroughlineError(
        'too-large',
        `Item ${contextId} has ${access.size} bytes; at most ${limits.contentBytes} are read.`,
      );
    }
    const { bytes, mediaType } = await this.#ports.getContent(item.ContextURI, access.token);
    const digest = `sha-256:${createHash('sha256').update(bytes).digest('hex')}`;
    if (bytes.length !== access.size || digest !== access.digest) {
      throw new ThroughlineError(
        'damaged',
        `The content of ${contextId} is not what was handed over; ask for it again.`,
      );
    }
    return { item, mediaType, bytes, text: () => new TextDecoder().decode(bytes) };
  }

  async materials(): Promise<Compressed> {
    const fetched: FetchedItem[] = [];
    for (const { ContextID: id, MediaType: mediaType } of this.#context.ContextItems) {
      const content = await this.fetch(id);
      const { item, bytes } = content;
      fetched.push(isText(mediaType) ? { item, text: content.text() } : { item, bytes });
    }
    return compress(fetched, this.#context.CompressionPolicy, { context: this.#context });
  }
}

/** Outputs of one task, by name; a name given again replaces what was there. */
export class Outputs {
  readonly #ports: AgentPorts;
  readonly #taskId: string;
  readonly #refs = new Map<string, ContentRef>();

  constructor(ports: AgentPorts, taskId: string) {
    this.#ports = ports;
    this.#taskId = taskId;
  }

  get refs(): ReadonlyMap<string, ContentRef> {
    return this.#refs;
  }

  async put(name: string, mediaType: string, content: Uint8Array | string): Promise<ContentRef> {
    if (!foreignId.safeParse(name).success) {
      throw new ThroughlineError('invalid', 'An output needs a name that is one path segment.');
    }
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    if (bytes.length > limits.contentBytes) {
      throw new ThroughlineError(
        'too-large',
        `Output ${name} has ${bytes.length} bytes; at most ${limits.contentBytes} are kept.`,
      );
    }
    const ref = await this.#ports.putOutput({ taskId: this.#taskId, name, mediaType, bytes });
    this.#refs.set(name, ref);
    return ref;
  }
}
