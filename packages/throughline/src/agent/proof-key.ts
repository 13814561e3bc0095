import { calculateThumbprint, generateKeyPair, generateProof } from 'dpop';

/** A key that read tokens are bound to: without it they open nothing (DPoP, RFC 9449). */
export interface ProofKey {
  /** JWK SHA-256 thumbprint, which the agent's card declares. */
  readonly thumbprint: string;
  /** For one call: `token` shown to `uri`. Good once, for a moment. */
  prove(method: 'GET' | 'POST', uri: string, token: string): Promise<string>;
}

/** An Ed25519 key of this process, which can't be taken out of it. */
export async function makeProofKey(): Promise<ProofKey> {
  const keys = await generateKeyPair('Ed25519');
  return {
    thumbprint: await calculateThumbprint(keys.publicKey),
    prove: (method, uri, token) => generateProof(keys, uri, method, undefined, token),
  };
}
