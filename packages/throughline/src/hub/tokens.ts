import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { ThroughlineError } from '../errors.ts';
import type { Ids } from './ids.ts';
import type { Vault } from './vault.ts';

const tokenType = 'ctx+jwt';
const algorithm = 'EdDSA';
/** Longest life of a read token, seconds. */
export const tokenSeconds = 600;
/** PKCS #8 frame of an Ed25519 seed (RFC 8410 section 7). */
const ed25519Frame = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A key pair of this domain for one kind of token. */
export function tokenKeys(vault: Vault, use: string): { private: KeyObject; public: KeyObject } {
  const key = Buffer.concat([ed25519Frame, vault.derive(use)]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  return { private: privateKey, public: createPublicKey(privateKey) };
}

/** Read tokens: who may read which ContextURI until when. Ed25519, made and checked by this domain. */
export class ReadTokens {
  readonly #keys: ReturnType<typeof tokenKeys>;
  readonly #ids: Ids;
  readonly #now: () => Date;

  constructor(vault: Vault, ids: Ids, now: () => Date) {
    this.#keys = tokenKeys(vault, 'read-token');
    this.#ids = ids;
    this.#now = now;
  }

  /** `seconds` above the limit is `invalid`, so that nobody counts on a longer life. */
  sign(request: { uri: string; audience: string; seconds: number }): Promise<string> {
    const { uri, audience, seconds } = request;
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > tokenSeconds) {
      throw new ThroughlineError(
        'invalid',
        `seconds: must be a whole number from 1 to ${tokenSeconds}`,
      );
    }
    const issued = Math.floor(this.#now().getTime() / 1_000);
    return new SignJWT()
      .setProtectedHeader({ alg: algorithm, typ: tokenType })
      .setSubject(uri)
      .setAudience(audience)
      .setIssuedAt(issued)
      .setNotBefore(issued)
      .setExpirationTime(issued + seconds)
      .setJti(this.#ids.make('key'))
      .sign(this.#keys.private);
  }

  /** Whether the token lets this principal read this URI now. Says nothing about why not. */
  async allows(token: string, uri: string, principal: string): Promise<boolean> {
    try {
      await jwtVerify(token, this.#keys.public, {
        algorithms: [algorithm],
        typ: tokenType,
        subject: uri,
        audience: principal,
        requiredClaims: ['exp', 'iat', 'nbf', 'jti', 'sub', 'aud'],
        maxTokenAge: tokenSeconds,
        currentDate: this.#now(),
      });
      return true;
    } catch {
      return false;
    }
  }
}
