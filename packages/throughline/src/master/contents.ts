import { createHash } from 'node:crypto';
import { ThroughlineError } from '../errors.ts';
import type { ItemContent } from '../handover/plain.ts';
import { isJson, isText } from '../handover/media.ts';
import { StoreAway } from './agent-failure.ts';
import { readForeign, type ForeignStores } from './foreign.ts';
import type { MasterPorts } from './ports.ts';
import type { ItemRef } from './run-state.ts';

/** Bytes of contents that a run keeps at hand. */
const keptBytes = 67_108_864;
/** Milliseconds for which a look at another store counts: attempts that follow each other share it. */
const lookMs = 60_000;
const mostLooks = 1_024;

export const sha256 = (bytes: Uint8Array | string): string =>
  `sha-256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Why a piece can't be handed over, now or later. */
export const lost: readonly string[] = [
  'damaged',
  'gone',
  'invalid',
  'not-found',
  'too-large',
  'unsupported',
];

export interface ContentsOptions {
  /** Where items may lie beside the hub's store. */
  readonly stores?: ForeignStores | undefined;
  /** The Master's own principal id. */
  readonly self: string;
}

/**
 * Reads contents of a run from the hub's store, or from another one that is trusted, each checked against
 * its digest, some kept at hand.
 */
export class Contents {
  readonly #ports: Pick<MasterPorts, 'getContent'>;
  readonly #options: ContentsOptions;
  readonly #kept = new Map<string, Uint8Array>();
  #bytes = 0;
  /** When another store was last seen to have a piece, as `performance.now()` says it. */
  readonly #looks = new Map<string, number>();

  constructor(ports: Pick<MasterPorts, 'getContent'>, options: ContentsOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  get stores(): ForeignStores | undefined {
    return this.#options.stores;
  }

  /** For counting what was sent: says of what is lost that it was there. */
  get forCounting(): Contents {
    return new Counted(this, this.#ports, this.#options);
  }

  /** @throws ThroughlineError `damaged` when the bytes are not those of the reference. */
  async bytes(ref: ItemRef): Promise<Uint8Array> {
    return this.#kept.get(ref.digest) ?? this.#fresh(ref);
  }

  /** Looks whether another store has a piece, unless it did a moment ago. @throws ThroughlineError as `bytes` */
  async look(ref: ItemRef): Promise<void> {
    const piece = `${ref.digest} ${ref.uri}`;
    const at = this.#looks.get(piece) ?? -Infinity;
    if (this.#kept.has(ref.digest) && performance.now() - at < lookMs) return;
    this.#looks.delete(piece);
    await this.#fresh(ref);
    this.#looks.set(piece, performance.now());
    const [oldest = ''] = this.#looks.keys();
    if (this.#looks.size > mostLooks) this.#looks.delete(oldest);
  }

  async #fresh(ref: ItemRef): Promise<Uint8Array> {
    const { bytes } = await (ref.foreign === undefined
      ? this.#ports.getContent(ref.uri)
      : this.#elsewhere(ref, ref.foreign));
    if (sha256(bytes) !== ref.digest) {
      throw new ThroughlineError(
        'damaged',
        `${ref.uri} no longer has the content that was offered; it is not handed over.`,
      );
    }
    this.#keep(ref.digest, bytes);
    return bytes;
  }

  /** JSON as its value, other text as text, the rest as bytes. */
  async content(ref: ItemRef): Promise<ItemContent['content']> {
    const bytes = await this.bytes(ref);
    if (!isText(ref.mediaType)) return { kind: 'bytes', bytes };
    const text = new TextDecoder().decode(bytes);
    const data = isJson(ref.mediaType) ? parsed(text) : undefined;
    return data === undefined ? { kind: 'text', text } : { kind: 'data', data };
  }

  /** As text for counting and reading; media is named, not spelled out. */
  async text(ref: ItemRef): Promise<string> {
    const bytes = await this.bytes(ref);
    return isText(ref.mediaType)
      ? new TextDecoder().decode(bytes)
      : `[${bytes.length} bytes of ${ref.mediaType}]`;
  }

  /** A store that is away for now is tried again, as an agent is. */
  async #elsewhere({ uri, size }: ItemRef, name: string): Promise<{ bytes: Uint8Array }> {
    const { stores, self } = this.#options;
    try {
      return await readForeign(stores, { name, uri, size, self });
    } catch (error) {
      const isAway = error instanceof ThroughlineError && error.retryable;
      throw isAway ? new StoreAway(error) : error;
    }
  }

  #keep(digest: string, bytes: Uint8Array): void {
    if (bytes.length > keptBytes || this.#kept.has(digest)) return;
    this.#kept.set(digest, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= keptBytes) return;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
  }
}

class Counted extends Contents {
  readonly #of: Contents;

  constructor(of: Contents, ports: Pick<MasterPorts, 'getContent'>, options: ContentsOptions) {
    super(ports, options);
    this.#of = of;
  }

  override async bytes(ref: ItemRef): Promise<Uint8Array> {
    try {
      return await this.#of.bytes(ref);
    } catch (error) {
      const isLost = error instanceof ThroughlineError && lost.includes(error.code);
      if (!isLost && !(error instanceof StoreAway)) throw error;
      return new TextEncoder().encode(`[${ref.size} bytes of ${ref.mediaType}, no longer there]`);
    }
  }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
