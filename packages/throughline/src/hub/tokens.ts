import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { foreignId, idSchema, selectorSchema, thumbprint } from '../model/index.ts';
import type { Deps } from './deps.ts';
import type { Vault } from './vault.ts';

const tokenType = 'ctx+jwt';
const algorithm = 'EdDSA';
/** PKCS #8 frame of an Ed25519 seed (RFC 8410 section 7). */
const ed25519Frame = Buffer.from('302e020100300506032b657004220420', 'hex');
/** Tokens that one can be narrowed from, one after the other. */
export const maxAbove = 4;
const idBytes = 12;

/** A key pair of this domain for one kind of token. */
export function tokenKeys(vault: Vault, use: string): { private: KeyObject; public: KeyObject } {
  const key = Buffer.concat([ed25519Frame, vault.derive(use)]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  return { private: privateKey, public: createPublicKey(privateKey) };
}

/** What may be done with which pieces (RFC 9396). Locations are relative to the hub's `/content/`. */
const detailSchema = z.object({
  type: z.literal('content'),
  actions: z.tuple([z.literal('read')]),
  locations: z.array(idSchema('resource')).min(1),
  /** Only this part of each. */
  selector: selectorSchema.exactOptional(),
  /** Of their case, at which it was made; absent: 0. */
  epoch: z.int().exactOptional(),
});
export type ContentDetail = z.infer<typeof detailSchema>;

const claimsSchema = z.object({
  /** Principal that may show it; absent: whoever proves the key, or shows it first. */
  aud: foreignId.exactOptional(),
  exp: z.int(),
  jti: z.string(),
  cnf: z.object({ jkt: thumbprint }).exactOptional(),
  authorization_details: z.array(detailSchema).min(1),
  /** Ids of the tokens that it was narrowed from: with one of them it is revoked. */
  above: z.array(z.string()).max(maxAbove).exactOptional(),
  /** Good for one reading by URL. */
  once: z.literal(true).exactOptional(),
});
export type TokenClaims = z.infer<typeof claimsSchema>;

/** Read tokens: who may read what until when. Ed25519, made and checked by this domain. */
export class ReadTokens {
  readonly #keys: ReturnType<typeof tokenKeys>;
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#keys = tokenKeys(deps.vault, 'read-token');
  }

  /** Seconds since the epoch. */
  get now(): number {
    return Math.floor(this.#deps.now().getTime() / 1_000);
  }

  newId(): string {
    return Buffer.from(this.#deps.random(idBytes)).toString('base64url');
  }

  sign(claims: TokenClaims): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, typ: tokenType })
      .sign(this.#keys.private);
  }

  /** What a token of ours says, be it over or not; undefined for any other text. */
  async open(token: string): Promise<TokenClaims | undefined> {
    try {
      const { payload } = await jwtVerify(token, this.#keys.public, {
        algorithms: [algorithm],
        typ: tokenType,
        requiredClaims: ['exp', 'jti'],
        // Whoever holds it is told that it is over, and nobody else.
        currentDate: new Date(0),
      });
      return claimsSchema.parse(payload);
    } catch {
      return undefined;
    }
  }
}

/** The part of a token that is about one piece of content. */
export const detailOf = (claims: TokenClaims, resource: string): ContentDetail | undefined =>
  claims.authorization_details.find(({ locations }) => locations.includes(resource));
