import { z } from 'zod';
import { assertionSchema } from './assertion.ts';
import { casePageSchema, caseViewSchema } from './case-view.ts';

const mark = z.string().max(2_048);

/** Where a reader of the feed begins. Without a place: with a snapshot, then all that comes after it. */
export const feedQuerySchema = z.object({
  /** The `id` of an event: what comes after it. `0`: everything, from the first event on. */
  after: mark.exactOptional(),
  /** False: ends once everything there is was given. */
  follow: z.boolean().default(true),
});
export type FeedQuery = z.input<typeof feedQuerySchema>;

/** Names of the events’ types in CloudEvents; `data` follows from them. */
export const feedTypes = {
  assertion: 'dev.throughline.assertion.recorded',
  snapshot: 'dev.throughline.feed.snapshot',
  gap: 'dev.throughline.feed.gap',
} as const;

/** Attributes of CloudEvents 1.0, with its extension `sequence`. */
const envelope = z.object({
  specversion: z.literal('1.0'),
  id: mark,
  /** Origin of the hub. */
  source: z.string(),
  /** Id of the object that it is about; of a snapshot the case’s. */
  subject: z.string().exactOptional(),
  time: z.string(),
  datacontenttype: z.literal('application/json'),
  /** The domain’s number in digits of one length, so that text sorts as numbers do. */
  sequence: z
    .string()
    .regex(/^\d{16}$/)
    .exactOptional(),
});

/** One assertion, as a row of the timeline has it. */
const recordedSchema = envelope.extend({
  type: z.literal(feedTypes.assertion),
  data: assertionSchema,
});

/** What there is; every later event comes after it, none that is in it comes again. */
const snapshotSchema = envelope.extend({
  type: z.literal(feedTypes.snapshot),
  data: z.union([z.object({ case: caseViewSchema }), z.object({ cases: casePageSchema })]),
});

/** Something that was to be told and can’t be: never left out in silence. */
const gapSchema = envelope.extend({
  type: z.literal(feedTypes.gap),
  data: z.object({
    /**
     * `erased`: what people wrote is destroyed, the shape is in the timeline. `unreadable`: it is
     * damaged. `other-history`: the hub does not know the reader’s place, since its store was put
     * back or replaced; a snapshot follows.
     */
    reason: z.enum(['erased', 'unreadable', 'other-history']),
    /** Numbers between which the reader’s events are missing. */
    first: z.int().exactOptional(),
    last: z.int().exactOptional(),
  }),
});

/** An event of the feed: CloudEvents 1.0 in the structured mode of its JSON format. */
export const feedEventSchema = z.discriminatedUnion('type', [
  recordedSchema,
  snapshotSchema,
  gapSchema,
]);
export type FeedEvent = z.infer<typeof feedEventSchema>;

/** An event, and the place right after it. */
export interface FeedItem {
  /** Sealed: holds for this caller and this scope alone. Give it as `after` to go on from here. */
  readonly cursor: string;
  readonly event: FeedEvent;
}
