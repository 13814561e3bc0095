import { z } from 'zod';
import { intersect } from '../content/selectors/index.ts';
import { ThroughlineError } from '../errors.ts';
import {
  narrowRequestSchema,
  readTokenRequestSchema,
  renewRequestSchema,
  revocationSchema,
  type NarrowRequest,
  type Principal,
  type ReadTokenRequest,
  type RenewRequest,
  type Revocation,
  type Selector,
} from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { CaseAccess } from './case-access.ts';
import { checkProof, type ProofUse } from './content-proof.ts';
import { epochKind, findNote, type ContentNote } from './content-records.ts';
import { isTheirs, resourceOf, uriOf } from './content-rights.ts';
import { allowRenewal, renewalOf } from './content-renewals.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import { nowhere, Records } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { detailOf, maxAbove, ReadTokens, type ContentDetail, type TokenClaims } from './tokens.ts';

const empty = z.object({});
/** Ids of tokens that hold no more, until they would be over anyhow. */
const revokedTokens = new Records('revoked-token', empty, empty);
/** Proofs and tokens that were used and may not be again. */
const uses = new Records('used-proof', empty, empty);
/** How often all tokens of a case were revoked. */
const epochs = new Records(epochKind, z.object({ epoch: z.int() }), empty);
/** What tells that a token counts no more; a restored hub must not forget it. */
export const endedTokenKinds: readonly string[] = [revokedTokens.kind, uses.kind, epochs.kind];

/** A token as it is shown, with what goes with it. */
export interface Shown {
  readonly token: string;
  /** DPoP proof, for a token that is bound to a key. */
  readonly proof?: string | undefined;
  /** It stood in the URL. */
  readonly inUrl?: boolean;
}

/** What a token that was shown gives, as far as that can be told without the store. */
export interface Permit {
  readonly claims: TokenClaims;
  /** To be marked in the same work that acts on it. */
  readonly use?: ProofUse;
}

/** Makes, narrows, revokes and checks the rights to read that travel beside ContextURIs. */
export class ContentTokens {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #access: CaseAccess;
  readonly #tokens: ReadTokens;
  readonly #inUrls: boolean;

  constructor(deps: Deps, parts: { registries: Registries; access: CaseAccess }, inUrls: boolean) {
    this.#deps = deps;
    this.#registries = parts.registries;
    this.#access = parts.access;
    this.#tokens = new ReadTokens(deps);
    this.#inUrls = inUrls;
  }

  /** One token for several pieces of content, each of which one may read without a token. */
  async make(by: Principal, given: ReadTokenRequest): Promise<string> {
    const request = parse(readTokenRequestSchema, given, 'read token');
    if (request.inUrl === true && !this.#inUrls) {
      throw new ThroughlineError('unsupported', 'read token: this hub takes none in URLs');
    }
    const { seconds, renewableSeconds: longer } = request;
    if (request.inUrl === true && (request.thumbprint ?? longer) !== undefined) {
      throw new ThroughlineError(
        'invalid',
        'read token: one in a URL is good once, so that it comes without a proof and is not renewed',
      );
    }
    const jti = this.#tokens.newId();
    const look = async (reader: StoreReader): Promise<ContentDetail[]> => {
      const found: Piece[] = [];
      for (const each of request.uris) found.push(await this.#ownPiece(reader, by, each));
      return group(found);
    };
    const { store } = this.#deps;
    const details =
      longer === undefined
        ? await store.read(look)
        : await store.write(async (writer) => {
            const found = await look(writer);
            const until = this.#tokens.now + longer;
            await allowRenewal(this.#deps, writer, jti, { seconds, until, maker: by });
            return found;
          });
    return this.#tokens.sign({
      jti,
      ...(request.inUrl === true ? { once: true } : { aud: request.audience }),
      exp: this.#tokens.now + seconds,
      ...(request.thumbprint === undefined ? {} : { cnf: { jkt: request.thumbprint } }),
      authorization_details: details,
    });
  }

  /** Where a reader has its token renewed. */
  get renewUri(): string {
    return `${this.#deps.origin}/content-tokens/renew`;
  }

  /**
   * The same right once more, under the same id, so that it is taken back like the first: for the reader that
   * the token was made for, be it over or not, as long as that was allowed, and as long as its maker may
   * read each piece. Throws `not-found` for a token that does not hold, `gone` for one that is not renewed.
   */
  async renew(by: Principal, given: RenewRequest, proof?: string): Promise<string> {
    const { token } = parse(renewRequestSchema, given, 'renewal');
    const call = { method: 'POST', uri: this.renewUri } as const;
    const permit = await this.check(by, { token, proof }, call);
    // A delegate has no right of its own: whoever narrowed the token for it does so again.
    if (permit?.claims.aud === undefined) throw unknownToken();
    const { claims } = permit;
    const exp = await this.#deps.store.write(async (writer) => {
      if (!(await this.holds(writer, permit))) throw unknownToken();
      const renewal = await renewalOf(this.#deps, writer, claims.jti);
      if (renewal === undefined) {
        throw new ThroughlineError(
          'gone',
          'the token is not renewed, or not any more; ask whoever handed the content over for a new one',
        );
      }
      for (const { locations, epoch = 0 } of claims.authorization_details) {
        for (const resource of locations) {
          const uri = uriOf(this.#deps, resource);
          const now = await this.#ownPiece(writer, renewal.maker, uri);
          if (now.epoch !== epoch) throw unknownToken();
        }
      }
      await this.use(writer, permit);
      return Math.min(this.#tokens.now + renewal.seconds, renewal.until);
    });
    return this.#tokens.sign({ ...claims, exp });
  }

  /**
   * For a delegate of the holder, named by its key alone: less time, the same pieces or fewer, the same
   * parts or smaller ones. Throws `not-found` for a token that does not hold, `invalid` for more.
   */
  async narrow(
    by: Principal | undefined,
    given: NarrowRequest,
    proof: string | undefined,
  ): Promise<string> {
    const request = parse(narrowRequestSchema, given, 'narrower token');
    const shown = { token: request.token, proof };
    const uri = `${this.#deps.origin}/content-tokens/narrow`;
    const permit = await this.check(by, shown, { method: 'POST', uri });
    if (permit === undefined || permit.claims.once === true) throw unknownToken();
    const { claims } = permit;
    const above = [...(claims.above ?? []), claims.jti];
    if (above.length > maxAbove) {
      throw new ThroughlineError(
        'invalid',
        `token: was narrowed ${maxAbove} times, which is the most`,
      );
    }
    const details = group(request.uris.map((each) => this.#narrower(claims, each)));
    await this.#deps.store.write(async (writer) => {
      if (this.isOver(claims) || !(await this.holds(writer, permit))) throw unknownToken();
      await this.use(writer, permit);
    });
    return this.#tokens.sign({
      jti: this.#tokens.newId(),
      exp: Math.min(claims.exp, this.#tokens.now + request.seconds),
      cnf: { jkt: request.thumbprint },
      authorization_details: details,
      above,
    });
  }

  /** One token with all that were narrowed from it, or all that were made for a case until now. */
  async revoke(by: Principal, given: Revocation): Promise<void> {
    const which = parse(revocationSchema, given, 'revocation');
    if ('token' in which) return this.#revokeOne(by, which.token);
    const { store, vault } = this.#deps;
    await store.write(async (writer) => {
      const activity = await this.#mayEnd(writer, by, which.case);
      const epoch = ((await epochs.get(writer, vault.domain, activity))?.shape.epoch ?? 0) + 1;
      const record = { key: activity, index: { activity }, shape: { epoch }, content: {} };
      await epochs.put(writer, vault.domain, record);
    });
  }

  /** Whoever takes part in a case may end what it handed out there, and whoever manages it. */
  async #mayEnd(reader: StoreReader, by: Principal, id: string): Promise<string> {
    const { participants } = this.#registries;
    const object = await this.#access.resolve(reader, by, id);
    const activity = await this.#access.activityOf(reader, object);
    const source = await participants.of(reader, by);
    const takesPart = await participants.takesPart(reader, activity ?? nowhere, source);
    if (takesPart && activity !== undefined) return activity;
    const refusal = () => notFound('case', id);
    await this.#access.openActivity(reader, by, activity, refusal, 'manage');
    if (activity === undefined) throw refusal();
    return activity;
  }

  /** Whoever may read by it may take it back, and whoever could make it. */
  async #revokeOne(by: Principal, token: string): Promise<void> {
    const claims = await this.#tokens.open(token);
    if (claims === undefined) throw unknownToken();
    const { store, vault } = this.#deps;
    await store.write(async (writer) => {
      const resources = claims.authorization_details.flatMap(({ locations }) => locations);
      let isMaker = true;
      for (const resource of resources) {
        const note = await findNote(this.#deps, writer, resource);
        const theirs = await isTheirs(this.#registries.participants, writer, by, note);
        isMaker = isMaker && theirs;
      }
      if (!isMaker && claims.aud !== by.id) throw unknownToken();
      await revokedTokens.put(writer, vault.domain, {
        key: claims.jti,
        index: {},
        shape: {},
        content: {},
        expiresAt: (await this.#lastExp(writer, claims)) * 1_000,
      });
    });
  }

  /** Seconds since the epoch that no token of this id outlives, however often it is renewed. */
  async #lastExp(reader: StoreReader, { jti, exp }: TokenClaims): Promise<number> {
    const { until = exp } = (await renewalOf(this.#deps, reader, jti)) ?? {};
    return Math.max(exp, until);
  }

  /** A token of ours in the hands of whom it is for; be it over or not. Undefined for any other. */
  async check(
    by: Principal | undefined,
    shown: Shown,
    call: { method: 'GET' | 'POST'; uri: string },
  ): Promise<Permit | undefined> {
    const { token, proof, inUrl = false } = shown;
    const claims = await this.#tokens.open(token);
    if (claims === undefined || inUrl !== (claims.once === true)) return undefined;
    if (claims.aud !== undefined && claims.aud !== by?.id) return undefined;
    if (claims.once === true) {
      const until = claims.exp * 1_000;
      return this.#inUrls ? { claims, use: { jti: claims.jti, until } } : undefined;
    }
    if (claims.cnf === undefined) return claims.aud === undefined ? undefined : { claims };
    const { jkt } = claims.cnf;
    const use = await checkProof({ ...call, proof, token, jkt, now: this.#deps.now() });
    return use && { claims, use: { ...use, jti: `${jkt} ${use.jti}` } };
  }

  /** What its holder is told of a token that is over. */
  async over(reader: StoreReader, { claims }: Permit): Promise<ThroughlineError> {
    const mayRenew = (await renewalOf(this.#deps, reader, claims.jti)) !== undefined;
    const how = mayRenew ? 'renew it' : 'ask whoever handed the content over for a new one';
    const details = mayRenew ? { renew: this.renewUri } : {};
    return new ThroughlineError('gone', `the token is over; ${how}`, { details });
  }

  isOver({ exp }: TokenClaims): boolean {
    return exp <= this.#tokens.now;
  }

  /** That neither it nor one above it was revoked, and that what it is used with was not used before. */
  async holds(reader: StoreReader, { claims, use }: Permit): Promise<boolean> {
    const { vault } = this.#deps;
    for (const jti of [claims.jti, ...(claims.above ?? [])]) {
      if ((await revokedTokens.get(reader, vault.domain, jti)) !== undefined) return false;
    }
    if (use === undefined) return true;
    return (await uses.get(reader, vault.domain, this.#useKey(use))) === undefined;
  }

  /** What a token opens of one piece: its part of it; undefined where it opens nothing. */
  async opens(
    reader: StoreReader,
    { claims }: Permit,
    resource: string,
    note: ContentNote,
  ): Promise<{ selector?: Selector } | undefined> {
    const detail = detailOf(claims, resource);
    if (detail === undefined) return undefined;
    if ((detail.epoch ?? 0) !== (await this.#epoch(reader, note))) return undefined;
    return detail.selector === undefined ? {} : { selector: detail.selector };
  }

  async use(writer: StoreWriter, { use }: Permit): Promise<void> {
    if (use === undefined) return;
    await uses.put(writer, this.#deps.vault.domain, {
      key: this.#useKey(use),
      index: {},
      shape: {},
      content: {},
      expiresAt: use.until,
      expected: 0,
    });
  }

  #useKey({ jti }: ProofUse): string {
    return this.#deps.vault.blind('proof', jti);
  }

  async #epoch(reader: StoreReader, { shape }: ContentNote): Promise<number> {
    return (await epochs.get(reader, this.#deps.vault.domain, shape.activity))?.shape.epoch ?? 0;
  }

  /** A piece that one may read without a token. */
  async #ownPiece(reader: StoreReader, by: Principal, asked: Asked): Promise<Piece> {
    const { uri, selector } = typeof asked === 'string' ? { uri: asked } : asked;
    const resource = resourceOf(this.#deps, uri);
    const note = resource === undefined ? undefined : await findNote(this.#deps, reader, resource);
    const theirs = await isTheirs(this.#registries.participants, reader, by, note);
    if (resource === undefined || note === undefined || !theirs) throw notFound('content', uri);
    // Alone, it is only looked at whether it is a selector.
    const part = intersect(selector, undefined);
    return { resource, selector: part, epoch: await this.#epoch(reader, note) };
  }

  #narrower(claims: TokenClaims, asked: Asked): Piece {
    const { uri, selector } = typeof asked === 'string' ? { uri: asked } : asked;
    const resource = resourceOf(this.#deps, uri);
    const detail = resource === undefined ? undefined : detailOf(claims, resource);
    if (resource === undefined || detail === undefined) throw notFound('content', uri);
    const part = intersect(detail.selector, selector);
    return { resource, selector: part, epoch: detail.epoch ?? 0 };
  }
}

const unknownToken = (): ThroughlineError => notFound('token', 'shown');

/** A ContextURI, or a part of what it names. */
type Asked = ReadTokenRequest['uris'][number];

interface Piece {
  readonly resource: string;
  readonly selector?: Selector | undefined;
  readonly epoch: number;
}

/**
 * Pieces that are open in the same way stand in one detail, so that each costs its id alone.
 *
 * @throws ThroughlineError `invalid` for two parts of one piece, of which a token opens one.
 */
function group(pieces: readonly Piece[]): ContentDetail[] {
  const details = new Map<string, ContentDetail>();
  for (const { resource, selector, epoch } of pieces) {
    const key = JSON.stringify([selector, epoch]);
    const { locations = [] } = details.get(key) ?? {};
    details.set(key, {
      type: 'content',
      actions: ['read'],
      locations: [...new Set([...locations, resource])],
      ...(selector === undefined ? {} : { selector }),
      ...(epoch === 0 ? {} : { epoch }),
    });
  }
  const found = [...details.values()];
  const all = found.flatMap(({ locations }) => locations);
  if (new Set(all).size === all.length) return found;
  throw new ThroughlineError(
    'invalid',
    'token: names two parts of one piece, and opens one of each; make a token for each part',
  );
}
