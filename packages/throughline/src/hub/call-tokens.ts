import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { foreignId, principalSchema, roles, type Principal } from '../model/index.ts';
import type { Ids } from './ids.ts';
import { parse } from './refusals.ts';
import { tokenKeys } from './tokens.ts';
import type { Vault } from './vault.ts';

const tokenType = 'call+jwt';
const algorithm = 'EdDSA';
/** Longest life of a call token, seconds. */
const callTokenSeconds = 3_600;
const credentialForm = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/;

const requestSchema = z.object({
  audience: foreignId,
  seconds: z.int().min(1).max(callTokenSeconds),
});
export type CallTokenRequest = z.input<typeof requestSchema>;

const claimsSchema = z.object({
  sub: principalSchema.shape.id,
  tenant: principalSchema.shape.tenant,
  role: z.enum(roles),
});

/**
 * Call tokens: a principal calls one agent, which can show the hub who calls and can do nothing else
 * with it. An API key handed to an agent would open everything that its owner may open.
 */
export class CallTokens {
  readonly #keys: ReturnType<typeof tokenKeys>;
  readonly #ids: Ids;
  readonly #now: () => Date;

  constructor(vault: Vault, ids: Ids, now: () => Date) {
    this.#keys = tokenKeys(vault, 'call-token');
    this.#ids = ids;
    this.#now = now;
  }

  sign(by: Principal, request: CallTokenRequest): Promise<string> {
    const { audience, seconds } = parse(requestSchema, request, 'call token');
    if (by.audience !== undefined) {
      throw new ThroughlineError('invalid', 'call token: one call token does not make another');
    }
    const issued = Math.floor(this.#now().getTime() / 1_000);
    return new SignJWT({ tenant: by.tenant, role: by.role })
      .setProtectedHeader({ alg: algorithm, typ: tokenType })
      .setSubject(by.id)
      .setAudience(audience)
      .setIssuedAt(issued)
      .setExpirationTime(issued + seconds)
      .setJti(this.#ids.make('key'))
      .sign(this.#keys.private);
  }

  /** Whose token it is, when the agent that it was made for shows it; undefined for all else. */
  async principal(credential: string | undefined, via: Principal | undefined) {
    const token = credentialForm.exec(credential ?? '')?.[1];
    if (token === undefined || via === undefined) return undefined;
    try {
      const { payload } = await jwtVerify(token, this.#keys.public, {
        algorithms: [algorithm],
        typ: tokenType,
        audience: via.id,
        requiredClaims: ['exp', 'iat', 'jti', 'sub', 'aud'],
        maxTokenAge: callTokenSeconds,
        currentDate: this.#now(),
      });
      const { sub, tenant, role } = claimsSchema.parse(payload);
      if (tenant !== via.tenant) return undefined;
      return { tenant, id: sub, role, audience: via.id } satisfies Principal;
    } catch {
      return undefined;
    }
  }
}
