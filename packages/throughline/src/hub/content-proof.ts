import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';
import { z } from 'zod';

const maxAgeSeconds = 60;
const toleranceSeconds = 5;

const proofSchema = z.object({
  jti: z.string().min(1).max(256),
  htm: z.string(),
  htu: z.url(),
  iat: z.number(),
  ath: z.string(),
});

/** What a proof is held against. */
export interface Proven {
  readonly proof: string | undefined;
  readonly token: string;
  readonly method: 'GET' | 'POST';
  /** Without query and fragment. */
  readonly uri: string;
  /** Thumbprint of the key that the token is bound to. */
  readonly jkt: string;
  readonly now: Date;
}

/** One use of a proof: it is good for no other until nobody can use it any more. */
export interface ProofUse {
  readonly jti: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Checks a DPoP proof as RFC 9449, 4.3 asks: one JWT of its type, signed by the public key in its head
 * with an asymmetric algorithm, made for this method, URI and token a moment ago, by the key that the
 * token is bound to. That it was not used before is for the caller to know. Undefined when it does not hold.
 */
export async function checkProof(of: Proven): Promise<ProofUse | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(of.proof ?? '', EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ['ES256', 'Ed25519', 'EdDSA'],
      maxTokenAge: maxAgeSeconds,
      clockTolerance: toleranceSeconds,
      requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
      currentDate: of.now,
    });
    const { jti, htm, htu, iat, ath } = proofSchema.parse(payload);
    const { jwk } = protectedHeader;
    const holds =
      jwk !== undefined &&
      htm === of.method &&
      bare(htu) === bare(of.uri) &&
      ath === createHash('sha256').update(of.token).digest('base64url') &&
      (await calculateJwkThumbprint(jwk)) === of.jkt;
    if (!holds) return undefined;
    // Parts of a second are allowed there (RFC 7519, 2), and parts of a millisecond not here.
    return { jti, until: Math.ceil((iat + maxAgeSeconds + 2 * toleranceSeconds) * 1_000) };
  } catch {
    return undefined;
  }
}

/** As RFC 3986 normalises it, without query and fragment. */
function bare(uri: string): string {
  const url = new URL(uri);
  return url.origin + url.pathname;
}
