import { ThroughlineError } from '../errors.ts';
import { intersect } from '../content/selectors/index.ts';
import type { Principal, Selector } from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import type { ContentObjects, ObjectPlace } from './content-objects.ts';
import { bytesKind, findNote, placeOf } from './content-records.ts';
import { isTheirs, resourceOf } from './content-rights.ts';
import type { ContentTokens, Permit, Shown } from './content-tokens.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import { notFound } from './refusals.ts';
import { digestOf } from './vault.ts';

/** Asks for a piece of content, or for a part of it. */
export interface Reading extends Omit<Shown, 'token'> {
  readonly uri: string;
  readonly token?: string | undefined;
  readonly selector?: Selector | undefined;
}

export interface ReadContent {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** Of these bytes. */
  readonly digest: string;
  /** Task that put it out. */
  readonly outputOf?: string | undefined;
}

/** A piece that one may read, and where its bytes are. */
interface Found {
  readonly resource: string;
  readonly mediaType: string;
  readonly digest: string;
  readonly selector?: Selector | undefined;
  readonly outputOf?: string | undefined;
  readonly at: ObjectPlace | Uint8Array;
}

/** Cuts what a selector names out of content; pure, or by a tool of the machine. */
export type Cut = (
  content: { readonly mediaType: string; readonly bytes: Uint8Array },
  selector: Selector,
) => Promise<{ mediaType: string; bytes: Uint8Array }>;

/** Serves content to those it is open to, whole and unchanged or the part that they may have. */
export class ContentReading {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #objects: ContentObjects;
  readonly #tokens: ContentTokens;
  readonly #cut: Cut;

  constructor(
    deps: Deps,
    parts: {
      registries: Registries;
      objects: ContentObjects;
      contentTokens: ContentTokens;
      cut: Cut;
    },
  ) {
    this.#deps = deps;
    this.#registries = parts.registries;
    this.#objects = parts.objects;
    this.#tokens = parts.contentTokens;
    this.#cut = parts.cut;
  }

  /**
   * With a token, or without one for those it belongs to. A token that is shown alone decides: whoever is
   * handed a piece reads it by the right of who handed it over, not by its own. One refusal for all; `gone`
   * for those to whom it was open, or whose token is over.
   */
  async get(by: Principal | undefined, reading: Reading): Promise<ReadContent> {
    const { uri, token } = reading;
    const { store } = this.#deps;
    const call = { method: 'GET', uri } as const;
    const permit =
      token === undefined ? undefined : await this.#tokens.check(by, { ...reading, token }, call);
    const found =
      permit?.use === undefined
        ? await store.read((reader) => this.#find(reader, by, reading, permit))
        : await store.write(async (writer) => {
            const piece = await this.#find(writer, by, reading, permit);
            await this.#tokens.use(writer, permit);
            return piece;
          });
    const content = await this.#load(found, uri);
    if (found.selector === undefined) return content;
    const part = await this.#cut(content, found.selector);
    return { ...part, digest: digestOf(part.bytes) };
  }

  async #find(
    reader: StoreReader,
    by: Principal | undefined,
    { uri, selector, token }: Reading,
    permit: Permit | undefined,
  ): Promise<Found> {
    const refusal = () => notFound('content', uri);
    const resource = resourceOf(this.#deps, uri);
    if (resource === undefined) throw refusal();
    const note = await findNote(this.#deps, reader, resource);
    const { participants } = this.#registries;
    const theirs = by !== undefined && (await isTheirs(participants, reader, by, note));
    const isOwn = token === undefined && theirs;
    if (note?.content === undefined) throw refusal();
    if (by !== undefined && note.content.tenant !== by.tenant) throw refusal();
    const holds = permit !== undefined && (await this.#tokens.holds(reader, permit));
    const opened = holds ? await this.#tokens.opens(reader, permit, resource, note) : undefined;
    if (!isOwn && opened === undefined) throw refusal();
    if (!isOwn && permit !== undefined && this.#tokens.isOver(permit.claims)) {
      throw await this.#tokens.over(reader, permit);
    }
    this.#checkTime(note.shape.until);
    this.#checkRegion(note.shape.region);
    const at = placeOf(note) ?? (await this.#earlier(reader, resource, note.shape.activity));
    if (at === undefined) throw refusal();
    return {
      resource,
      mediaType: note.content.mediaType,
      digest: note.shape.digest,
      // For those that it belongs to: a reader by token has no need to know.
      outputOf: isOwn ? note.shape.outputOf : undefined,
      selector: isOwn ? selector : intersect(opened?.selector, selector),
      at,
    };
  }

  #checkTime(until: number | undefined): void {
    if (until === undefined || until > this.#deps.now().getTime()) return;
    throw new ThroughlineError(
      'gone',
      'the content was kept for a time that is over; ask whoever handed it over to put it again',
    );
  }

  #checkRegion(region: string | undefined): void {
    const { here, policy = 'any' } = this.#deps.regions;
    if (policy === 'any' || region === here) return;
    throw new ThroughlineError(
      'unsupported',
      `the content lies in ${region ?? 'no region'} and is not served from ${here ?? 'no region'}; ask a hub there`,
    );
  }

  /** Bytes as earlier versions kept them. */
  async #earlier(
    reader: StoreReader,
    resource: string,
    activity: string,
  ): Promise<Uint8Array | undefined> {
    const record = await reader.record({ kind: bytesKind, key: resource });
    const box = await this.#deps.vault.caseBox(reader, activity);
    if (record?.sealed === undefined || box === undefined) return undefined;
    return box.openBytes(`${bytesKind}/${resource}`, record.sealed);
  }

  async #load(found: Found, uri: string): Promise<ReadContent> {
    const { resource, mediaType, digest, outputOf, at } = found;
    const bytes = at instanceof Uint8Array ? at : await this.#objects.get(at);
    if (bytes !== undefined && digestOf(bytes) === digest) {
      return { mediaType, bytes, digest, outputOf };
    }
    // Erased between the two looks, it is no damage.
    const note = await this.#deps.store.read((reader) => findNote(this.#deps, reader, resource));
    if (note === undefined || placeOf(note) === undefined) throw notFound('content', uri);
    throw new ThroughlineError('damaged', `content ${resource} is not what was put there`);
  }
}
