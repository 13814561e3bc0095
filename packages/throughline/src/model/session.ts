import { z } from 'zod';
import { timestamp } from './ids.ts';

/** How long the page stays signed in. */
export const pageSessionSeconds = 12 * 3_600;

const codeSchema = z.string().regex(/^[\w-]{22}$/, 'must be a one-time code');

/** What the page’s address carries behind `#`: it counts once, for a minute. */
export const pageCodeSchema = z.object({ code: codeSchema, expiresAt: timestamp });
export type PageCode = z.infer<typeof pageCodeSchema>;

export const sessionRequestSchema = z.strictObject({ code: codeSchema });

/** The page’s address with a code, which behind `#` reaches no server and no log. */
export const pageUrl = (hub: string, code: string): string =>
  `${hub.replace(/\/+$/, '')}/#code=${code}`;
