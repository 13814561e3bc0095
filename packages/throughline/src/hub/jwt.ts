import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { principalSchema, roles, type Principal } from '../model/index.ts';
import { parse } from './refusals.ts';

/** Signatures by key pairs alone: with a shared secret, whoever checks a token could make one. */
const algorithms = [
  'EdDSA',
  'Ed25519',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];
const clockToleranceSeconds = 5;
/** The issuer's keys are fetched at most so often, whatever tokens come in. */
const refetchMs = 60_000;
const maxTokenBytes = 16_384;
const maxKeys = 100;
const credentialForm = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/;

/** Gets the issuer's key set; wired to the one guarded way out. */
export type FetchKeys = (request: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}) => Promise<{ readonly status: number; readonly body: Uint8Array }>;

export interface JwtOptions {
  /** Exactly as in `iss`. */
  readonly issuer: string;
  /** Must be in `aud`. */
  readonly audience: string;
  /** The issuer's public keys (RFC 7517), or where they are fetched. */
  readonly keys: JSONWebKeySet | { readonly url: string; readonly send: FetchKeys };
  /** Claim that names the tenant. Default `tenant`. */
  readonly tenantClaim?: string;
  /** Tenant of tokens without that claim. Absent: such a token is nobody’s. */
  readonly defaultTenant?: string;
  /**
   * Claim with the role: one of ours, a list, or a text of scopes such as `throughline:operator`.
   * Default `role`. A token that says nothing of a role is a caller's.
   */
  readonly roleClaim?: string;
}

const jwksSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string() })).max(maxKeys),
});

/** Bearer tokens of one issuer (RFC 7519, RFC 8725): whose they are, or undefined for nobody's. */
export class Jwts {
  readonly #options: JwtOptions;
  readonly #now: () => Date;
  #keys: JSONWebKeySet | undefined;
  #fetchedAt = -Infinity;
  #fetching: Promise<void> | undefined;

  constructor(options: JwtOptions, now: () => Date) {
    this.#options = options;
    this.#now = now;
    if (!('url' in options.keys)) this.#keys = parse(jwksSchema, options.keys, 'jwks');
  }

  /** Undefined for what is no token of this issuer for this hub now. `unavailable` before any key is known. */
  async principal(credential: string | undefined): Promise<Principal | undefined> {
    const token = credentialForm.exec(credential ?? '')?.[1];
    if (token === undefined || token.length > maxTokenBytes) return undefined;
    if (this.#keys === undefined) await this.#refetch();
    if (this.#keys === undefined) throw this.#unavailable();
    const claims = await this.#verify(token, this.#keys);
    return claims && this.#principalOf(claims);
  }

  /** Keys are fetched anew when one is named that is not known, but never for each such token. */
  async #verify(token: string, known: JSONWebKeySet): Promise<JWTPayload | undefined> {
    try {
      return await this.#check(token, known);
    } catch (error) {
      const isUnknownKey = error instanceof errors.JWKSNoMatchingKey;
      if (!isUnknownKey || !(await this.#refetch())) return undefined;
    }
    try {
      return await this.#check(token, this.#keys ?? known);
    } catch {
      return undefined;
    }
  }

  async #check(token: string, keys: JSONWebKeySet): Promise<JWTPayload> {
    const { issuer, audience } = this.#options;
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer,
      audience,
      algorithms,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: clockToleranceSeconds,
      currentDate: this.#now(),
    });
    return payload;
  }

  /** True when there may be keys that were not known before. */
  async #refetch(): Promise<boolean> {
    const { keys } = this.#options;
    if (!('url' in keys)) return false;
    if (this.#fetching === undefined) {
      const at = this.#now().getTime();
      if (at - this.#fetchedAt < refetchMs) return false;
      this.#fetchedAt = at;
      this.#fetching = this.#fetch(keys).finally(() => {
        this.#fetching = undefined;
      });
    }
    try {
      await this.#fetching;
      return true;
    } catch (cause) {
      if (this.#keys !== undefined) return false;
      throw this.#unavailable(cause);
    }
  }

  #unavailable(cause?: unknown): ThroughlineError {
    const { issuer } = this.#options;
    return new ThroughlineError(
      'unavailable',
      `tokens can’t be checked: the keys of ${issuer} can’t be had at the moment; send again later`,
      { cause },
    );
  }

  async #fetch({ url, send }: { url: string; send: FetchKeys }): Promise<void> {
    const { status, body } = await send({ url, headers: { accept: 'application/json' } });
    if (status !== 200) throw new Error(`status ${status}`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    this.#keys = jwksSchema.parse(JSON.parse(text));
  }

  #principalOf(claims: JWTPayload): Principal | undefined {
    const { tenantClaim = 'tenant', roleClaim = 'role', defaultTenant } = this.#options;
    const role = roleOf(claims[roleClaim]);
    const tenant = claims[tenantClaim] ?? defaultTenant;
    return role && principalSchema.safeParse({ tenant, id: claims.sub, role }).data;
  }
}

/** The one role that a claim names; undefined for several, `caller` for none. */
function roleOf(claim: unknown): Principal['role'] | undefined {
  const words = Array.isArray(claim)
    ? claim.map(String)
    : typeof claim === 'string'
      ? claim.split(' ')
      : [];
  const named = roles.filter((role) =>
    words.some((word) => word === role || word === `throughline:${role}`),
  );
  return named.length > 1 ? undefined : (named[0] ?? 'caller');
}
