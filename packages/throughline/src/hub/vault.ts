import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { Store, StoreReader, StoreWriter } from '../store/store.ts';
import { systemRandom, type Random } from './ids.ts';
import { Memo } from './memo.ts';

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const saltBytes = 16;
/** Keys of scopes that are kept unwrapped, at most. */
const keptBoxes = 256;

/** Seals and opens under one key. The label is bound in, so that no sealed piece can take another's place. */
export class KeyBox {
  readonly #key: Uint8Array;
  readonly #random: Random;

  constructor(key: Uint8Array, random: Random) {
    this.#key = key;
    this.#random = random;
  }

  sealBytes(label: string, bytes: Uint8Array): Uint8Array {
    const nonce = this.#random(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.from(label));
    return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws `damaged` when the bytes are not what was sealed under this label. */
  openBytes(label: string, sealed: Uint8Array): Uint8Array {
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, nonceBytes));
      decipher.setAAD(Buffer.from(label));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      const plain = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
      // Gives nothing more, and throws where the tag does not fit.
      decipher.final();
      return plain;
    } catch (cause) {
      throw new ThroughlineError(
        'damaged',
        `the sealed part of ${label} does not open under its key; restore the data folder from a backup`,
        { cause },
      );
    }
  }

  /** Whether these bytes were sealed under this label and this key. */
  opens(label: string, sealed: Uint8Array): boolean {
    try {
      this.openBytes(label, sealed);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Seals JSON with a salt, a new one unless it is given; the commitment proves later what was sealed
   * without showing it.
   */
  seal(
    label: string,
    value: unknown,
    salt = this.#random(saltBytes),
  ): { sealed: Uint8Array; commitment: string } {
    const plain = Buffer.from(JSON.stringify(value));
    const sealed = this.sealBytes(label, Buffer.concat([salt, plain]));
    return { sealed, commitment: commitmentOf(salt, plain) };
  }

  /** Opens what `seal` gave; with a commitment, checks it too. */
  open(label: string, sealed: Uint8Array, commitment?: string): unknown {
    return this.openSalted(label, sealed, commitment).value;
  }

  /** The same with its salt. */
  openSalted(
    label: string,
    sealed: Uint8Array,
    commitment?: string,
  ): { salt: Uint8Array; value: unknown } {
    const bytes = this.openBytes(label, sealed);
    const [salt, plain] = [bytes.subarray(0, saltBytes), bytes.subarray(saltBytes)];
    if (commitment !== undefined && !sameText(commitmentOf(salt, plain), commitment)) {
      throw new ThroughlineError('damaged', `the sealed part of ${label} is not what was recorded`);
    }
    return { salt, value: JSON.parse(Buffer.from(plain).toString('utf8')) };
  }
}

/** What a shape says of content: HMAC-SHA-256 of its JSON under its salt, in base64url. */
export const commitmentOf = (salt: Uint8Array, plain: Uint8Array): string =>
  createHmac('sha256', salt).update(plain).digest('base64url');

/** Compares without telling by time where two texts differ. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** Bytes as a name to know them again by. */
export const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

/** Digest of bytes as the model writes it. */
export const digestOf = (bytes: Uint8Array): string =>
  `sha-256:${createHash('sha256').update(bytes).digest('hex')}`;

export const caseKeyKind = 'case-key';
/** Record by which a store is known to belong to a domain key. */
export const domainMark = { kind: 'domain', key: 'mark' } as const;
const markShape = z.looseObject({ restoring: z.string().optional() });

/** Key of a scope that is gone for good: nothing may be sealed there again. */
const destroyed = (scope: string) =>
  new ThroughlineError('not-found', `${scope} was erased and takes nothing any more`);

/**
 * Keys of the domain. One key seals what belongs to no case; each case has its own, wrapped by the
 * domain's, so that destroying it leaves only shapes. Ids from outside are blinded before they become
 * index values.
 */
export class Vault {
  readonly #domainKey: Uint8Array;
  readonly #random: Random;
  readonly #blinding: Uint8Array;
  readonly #wrapping: KeyBox;
  /** By scope and sealed key: which key holds, and whether one does, the store says each time. */
  readonly #unwrapped = new Memo<KeyBox>(keptBoxes);
  /** Seals what is kept for the domain itself: API keys, marks, names of participants. */
  readonly domain: KeyBox;

  constructor(domainKey: Uint8Array, random: Random = systemRandom) {
    if (domainKey.length !== keyBytes) {
      throw new ThroughlineError('invalid', `the domain key must be ${keyBytes} bytes`);
    }
    this.#domainKey = domainKey;
    this.#random = random;
    this.#blinding = this.derive('blind');
    this.#wrapping = new KeyBox(this.derive('wrap'), random);
    this.domain = new KeyBox(this.derive('domain'), random);
  }

  /**
   * Throws `damaged` when the store was written under another domain key, or is being filled by another
   * restore than the one named. Marks a new one.
   */
  async claim(store: Store, restoring?: string): Promise<void> {
    const mark = domainMark;
    const known = await store.read((reader) => reader.record(mark));
    if (known === undefined) {
      const { sealed } = this.domain.seal('domain/mark', 'ours');
      const record = { ...mark, sort: 0, index: { kind: 'domain' }, shape: {}, sealed };
      await store.write(async (writer) => {
        if ((await writer.record(mark)) === undefined) await writer.putRecord(record);
      });
      return;
    }
    if (markShape.parse(known.shape).restoring !== restoring) {
      throw new ThroughlineError(
        'damaged',
        'the store was being filled from a backup, and that was not finished; run throughline restore again',
      );
    }
    if (this.ownsMark(known.sealed ?? new Uint8Array())) return;
    throw new ThroughlineError(
      'damaged',
      'the domain key is not the one that this store was written under; use the key file that belongs to it',
    );
  }

  /** Whether a store with this mark was written under this key. */
  ownsMark(sealed: Uint8Array): boolean {
    return this.domain.opens('domain/mark', sealed);
  }

  random(bytes: number): Uint8Array {
    return this.#random(bytes);
  }

  /** A key of its own for one purpose. */
  derive(purpose: string): Uint8Array {
    const info = `throughline/${purpose}`;
    return new Uint8Array(hkdfSync('sha256', this.#domainKey, new Uint8Array(), info, keyBytes));
  }

  box(purpose: string): KeyBox {
    return new KeyBox(this.derive(purpose), this.#random);
  }

  /** Index value for ids of outside: equal ids give equal values, and none gives the id back. */
  blind(kind: string, ...parts: readonly string[]): string {
    return createHmac('sha256', this.#blinding)
      .update(JSON.stringify([kind, ...parts]))
      .digest('base64url');
  }

  /**
   * Key of one scope: of a case, of a context (which is there before its case is), of a Participant.
   * Undefined when there is none or it was destroyed.
   */
  async caseBox(reader: StoreReader, scope: string): Promise<KeyBox | undefined> {
    const record = await reader.record({ kind: caseKeyKind, key: scope });
    return record && this.#unwrap(scope, record);
  }

  /** From the commit on nothing that was sealed in the scope can be opened, and nothing is again. */
  async destroy(writer: StoreWriter, scope: string): Promise<void> {
    this.#unwrapped.clear();
    const shape = { destroyed: true };
    await writer.putRecord({ kind: caseKeyKind, key: scope, sort: 0, index: {}, shape });
    await writer.eraseActivity(scope);
  }

  /** The same for a scope that may be filled again: what is known of a Participant. */
  async forget(writer: StoreWriter, scope: string): Promise<void> {
    this.#unwrapped.clear();
    await writer.deleteRecord({ kind: caseKeyKind, key: scope });
    await writer.eraseActivity(scope);
  }

  #unwrap(scope: string, { sealed }: { readonly sealed?: Uint8Array }): KeyBox | undefined {
    if (sealed === undefined) return undefined;
    return this.#unwrapped.get(`${scope} ${textOf(sealed)}`, () => {
      const key = this.#wrapping.openBytes(`${caseKeyKind}/${scope}`, sealed);
      return new KeyBox(key, this.#random);
    });
  }

  /** The same, made when it is not there yet. */
  async caseBoxFor(writer: StoreWriter, scope: string): Promise<KeyBox> {
    const known = await writer.record({ kind: caseKeyKind, key: scope });
    const box = known && this.#unwrap(scope, known);
    if (box !== undefined) return box;
    if (known !== undefined) throw destroyed(scope);
    const key = this.#random(keyBytes);
    const sealed = this.#wrapping.sealBytes(`${caseKeyKind}/${scope}`, key);
    const record = { kind: caseKeyKind, key: scope, sort: 0, index: { scope }, shape: {}, sealed };
    await writer.putRecord(record, { expected: 0 });
    return new KeyBox(key, this.#random);
  }
}
