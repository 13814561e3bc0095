import { createHash } from 'node:crypto';
import { ThroughlineError } from '../errors.ts';
import type { ContentRef } from '../model/content.ts';
import type { ItemContent } from '../handover/plain.ts';
import { isJson, isText } from '../handover/media.ts';
import type { MasterPorts } from './ports.ts';

/** Bytes of contents that a run keeps at hand. */
const keptBytes = 67_108_864;

export const sha256 = (bytes: Uint8Array | string): string =>
  `sha-256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Reads contents of a run through its hub, each checked against its digest, some kept at hand. */
export class Contents {
  readonly #ports: Pick<MasterPorts, 'getContent'>;
  readonly #kept = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(ports: Pick<MasterPorts, 'getContent'>) {
    this.#ports = ports;
  }

  /** @throws ThroughlineError `damaged` when the bytes are not those of the reference. */
  async bytes(ref: ContentRef): Promise<Uint8Array> {
    const kept = this.#kept.get(ref.digest);
    if (kept !== undefined) return kept;
    const { bytes } = await this.#ports.getContent(ref.uri);
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
  async content(ref: ContentRef): Promise<ItemContent['content']> {
    const bytes = await this.bytes(ref);
    if (!isText(ref.mediaType)) return { kind: 'bytes', bytes };
    const text = new TextDecoder().decode(bytes);
    const data = isJson(ref.mediaType) ? parsed(text) : undefined;
    return data === undefined ? { kind: 'text', text } : { kind: 'data', data };
  }

  /** As text for counting and reading; media is named, not spelled out. */
  async text(ref: ContentRef): Promise<string> {
    const bytes = await this.bytes(ref);
    return isText(ref.mediaType)
      ? new TextDecoder().decode(bytes)
      : `[${bytes.length} bytes of ${ref.mediaType}]`;
  }

  #keep(digest: string, bytes: Uint8Array): void {
    if (bytes.length > keptBytes) return;
    this.#kept.set(digest, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= keptBytes) return;
      this.#kept.delete(oldest);
      this.#bytes -= length;
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
