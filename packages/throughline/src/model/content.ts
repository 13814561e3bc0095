import { z } from 'zod';
import { graderSpecSchema } from './grader.ts';
import { digest, foreignId, idSchema, timestamp } from './ids.ts';
import { limits } from './limits.ts';
import { selectorSchema } from './resource.ts';

/** A piece of offloaded content: stable URI without a secret, checked by its digest. */
export const contentRefSchema = z.object({
  resource: idSchema('resource'),
  /** ContextURI. */
  uri: z.url(),
  mediaType: z.string().max(255),
  /** Bytes. */
  size: z.int().nonnegative(),
  digest,
  /** When it stops being served; absent: as long as its case is there. */
  expiresAt: timestamp.exactOptional(),
});
export type ContentRef = z.infer<typeof contentRefSchema>;

/** Header of an answer with content: the Task that put it out. */
export const outputOfHeader = 'Throughline-Output-Of';

/** How long and where content may lie. */
export const contentKeepingSchema = z.strictObject({
  /** Seconds that it is served, ten years at most; absent: as long as its case is there. */
  keepSeconds: z.int().min(1).max(315_360_000).exactOptional(),
  /** Label of the region that it may lie in; absent: the hub's. */
  region: z.string().min(1).max(64).exactOptional(),
});
export type ContentKeeping = z.infer<typeof contentKeepingSchema>;

const handedGradersSchema = z.record(foreignId, graderSpecSchema);
/** How criteria are graded, by CriterionID. */
export type HandedGraders = z.infer<typeof handedGradersSchema>;

/**
 * The right to read what is handed over, in a part's or a message's metadata: one token for all that lies
 * in the hub's store, and by ContextID what each piece must be when it comes.
 */
export const contentAccessSchema = z.object({
  /** Absent where all of it lies elsewhere. */
  token: z.string().exactOptional(),
  items: z.record(
    z.string(),
    z.object({
      digest,
      size: z.int().nonnegative(),
      /** For a piece in another store than the hub's: a token of that store, which alone gets to see it. */
      token: z.string().exactOptional(),
    }),
  ),
  /** How criteria are graded, by CriterionID, so that the agent can find out first. */
  graders: handedGradersSchema.exactOptional(),
});
export type ContentAccess = z.infer<typeof contentAccessSchema>;

/** Key of that object in A2A part metadata. */
export const contentAccessKey = 'https://throughline.dev/extensions/aci/v1';

/** Parameter of that extension in an agent's card: thumbprint of the key that its read tokens are bound to. */
export const proofKeyParam = 'proofKey';

/** JWK SHA-256 thumbprint of a public key (RFC 7638). */
export const thumbprint = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** Seconds of the longest life of a read token. */
export const readTokenSeconds = 600;
const seconds = z.int().min(1).max(readTokenSeconds);
/** Seconds from when a read token was made, in which it may be renewed, at most: a day and some more. */
export const renewableSeconds = 90_000;
const uri = z.string().max(2_048);
/** ContextURIs, or parts of what they name. */
const uris = z
  .array(z.union([uri, z.strictObject({ uri, selector: selectorSchema })]))
  .min(1)
  .max(limits.parts);

/** A right to read several pieces of content, for one principal, for some seconds. */
export const readTokenRequestSchema = z.strictObject({
  uris,
  /** Principal id of the reader. */
  audience: foreignId,
  seconds,
  /** Good only with proofs by this key (DPoP, RFC 9449). */
  thumbprint: thumbprint.exactOptional(),
  /** Its reader may have it renewed so long, each time for `seconds`; absent: not at all. */
  renewableSeconds: z.int().min(1).max(renewableSeconds).exactOptional(),
  /** For a reader that can take a URL and nothing else: good once, in `?ctx=`, where the hub allows it. */
  inUrl: z.boolean().exactOptional(),
});
export type ReadTokenRequest = z.infer<typeof readTokenRequestSchema>;

const shownToken = z.string().min(1).max(65_536);

/** The same right for longer, for the reader that a renewable token was made for. */
export const renewRequestSchema = z.strictObject({ token: shownToken });
export type RenewRequest = z.infer<typeof renewRequestSchema>;

/** A narrower one than `token` for a delegate of its holder, who is named by a key alone. */
export const narrowRequestSchema = z.strictObject({
  token: shownToken,
  uris,
  seconds,
  thumbprint,
});
export type NarrowRequest = z.infer<typeof narrowRequestSchema>;

/** What is taken back: one token and all that were narrowed from it, or all of a case until now. */
export const revocationSchema = z.union([
  z.strictObject({ token: shownToken }),
  /** By its contextId or the id of anything in it. */
  z.strictObject({ case: foreignId }),
]);
export type Revocation = z.infer<typeof revocationSchema>;
