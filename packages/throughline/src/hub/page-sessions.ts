import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { idSchema, pageSessionSeconds, type PageCode, type Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { Deps } from './deps.ts';
import type { Random } from './ids.ts';
import { keyRecords, type Keys } from './keys.ts';
import { Records, type Kept } from './records.ts';

const codeBytes = 16;
const secretBytes = 32;
const codeMs = 60_000;
const sessionMs = pageSessionSeconds * 1_000;
/** Of one key at a time; the oldest makes room. */
const mostOfAKey = 50;

const shapeSchema = z.object({ of: idSchema('key'), until: z.int() });
type Shape = z.infer<typeof shapeSchema>;
const contentSchema = z.strictObject({});
type Found = Kept<Shape, z.infer<typeof contentSchema>>;
const codes = new Records('page-code', shapeSchema, contentSchema);
const sessions = new Records('page-session', shapeSchema, contentSchema);

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** One answer for used, expired, altered and never made. */
const codeRefused = () =>
  new ThroughlineError(
    'unauthenticated',
    'the code was used, is older than a minute, or is none; make another with: throughline page',
  );

/**
 * Lets a person's browser in without showing it a key: a code that counts once becomes a session.
 * Both are found by their SHA-256 alone and hold only as long as the API key they were made with.
 */
export class PageSessions {
  readonly #deps: Deps;
  readonly #random: Random;
  readonly #keys: Keys;

  constructor(deps: Deps, random: Random, keys: Keys) {
    this.#deps = deps;
    this.#random = random;
    this.#keys = keys;
  }

  /** A code for the principal of an API key; other credentials are `unauthenticated`. */
  async makeCode(credential: string | undefined): Promise<PageCode> {
    const of = await this.#keys.idOf(credential);
    const code = this.#secret(codeBytes);
    const until = this.#now() + codeMs;
    await this.#deps.store.write((writer) => this.#put(writer, codes, code, { of, until }));
    return { code, expiresAt: new Date(until).toISOString() };
  }

  /** The code's session, once. Gives the secret of its cookie. */
  async open(code: string): Promise<string> {
    const { store } = this.#deps;
    const secret = this.#secret(secretBytes);
    await store.write(async (writer) => {
      const found = await this.#valid(writer, codes, code);
      if (found === undefined) throw codeRefused();
      await writer.deleteRecord({ kind: codes.kind, key: found.record.key });
      const { of } = found.record.shape;
      await this.#put(writer, sessions, secret, { of, until: this.#now() + sessionMs });
    });
    return secret;
  }

  /** Whose session it is; undefined when it is over, ended, or none. */
  async principal(secret: string): Promise<Principal | undefined> {
    const found = await this.#deps.store.read((reader) => this.#valid(reader, sessions, secret));
    return found?.principal;
  }

  async end(secret: string): Promise<void> {
    await this.#deps.store.write((writer) =>
      writer.deleteRecord({ kind: sessions.kind, key: hashOf(secret) }),
    );
  }

  async #valid(
    reader: StoreReader,
    records: typeof codes,
    secret: string,
  ): Promise<{ record: Found; principal: Principal } | undefined> {
    const { domain } = this.#deps.vault;
    const record = await records.get(reader, domain, hashOf(secret));
    if (record === undefined || record.shape.until <= this.#now()) return undefined;
    const key = await keyRecords.get(reader, domain, record.shape.of);
    if (key?.content === undefined || key.shape.revoked) return undefined;
    return { record, principal: key.content.principal };
  }

  async #put(
    writer: StoreWriter,
    records: typeof codes,
    secret: string,
    shape: Shape,
  ): Promise<void> {
    const { domain } = this.#deps.vault;
    const index = { of: shape.of };
    const kept = await records.find(writer, domain, { index, limit: mostOfAKey });
    const oldest = kept.at(mostOfAKey - 1);
    if (oldest !== undefined) await writer.deleteRecord({ kind: records.kind, key: oldest.key });
    await records.put(writer, domain, {
      key: hashOf(secret),
      sort: shape.until,
      index,
      shape,
      content: {},
      expected: 0,
      expiresAt: shape.until,
    });
  }

  #secret(bytes: number): string {
    return Buffer.from(this.#random(bytes)).toString('base64url');
  }

  #now(): number {
    return this.#deps.now().getTime();
  }
}
