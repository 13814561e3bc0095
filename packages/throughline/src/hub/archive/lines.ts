import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import {
  awaitingWhat,
  conflictSchema,
  digest,
  foreignId,
  handoverSchema,
  handoverTextsSchema,
  idSchema,
  runUsageSchema,
  shortText,
  taskState,
  timestamp,
} from '../../model/index.ts';

export const exportFormat = 'throughline-export';
/** One up with each kind of line or field that an older program would refuse. */
export const exportVersion = 2;

/** Bytes of one line: the largest text or piece of content, however much JSON makes of it. */
export const lineBytes = 67_108_864;
/** Lines of one file. */
export const mostLines = 100_000_000;
/** Levels of nesting in a line. */
export const lineDepth = 64;

const activity = idSchema('activity');
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const written = z.record(z.string(), z.unknown());

const headerSchema = z.strictObject({
  format: z.literal(exportFormat),
  version: z.int().positive(),
  of: z.enum(['case', 'tenant']),
  /** `shape`: without what people wrote. */
  holds: z.enum(['content', 'shape']),
});

/** Where an entry was recorded first; its hash follows from `previous` there. */
export const originSchema = z.strictObject({
  domain: z.url().max(2_048),
  seq: z.int().positive(),
  previous: hash,
  hash,
});
export type Origin = z.infer<typeof originSchema>;

/**
 * One line each. Ids are the ones of the model; numbers that mean something in one hub only (versions,
 * sequence numbers of records) are left out and given anew.
 */
const lineSchemas = {
  entry: z.strictObject({
    kind: z.literal('entry'),
    ...originSchema.shape,
    id: idSchema('assertion'),
    about: z.string().max(64),
    activity: activity.exactOptional(),
    shape: written,
    /** What people wrote, in the order of members that the commitment in `shape` covers. */
    content: written.exactOptional(),
    salt: z
      .string()
      .regex(/^[\w-]{22}$/)
      .exactOptional(),
    /** Rule that it broke, where too little is left of it to find that out again. */
    broke: conflictSchema.shape.rule.exactOptional(),
  }),
  case: z.strictObject({
    kind: z.literal('case'),
    id: activity,
    tenant: foreignId,
    owner: foreignId.exactOptional(),
    erased: z.literal(true).exactOptional(),
    ref: idSchema('context').exactOptional(),
    refs: z.array(idSchema('context')).max(100_000),
    openedAt: z.int(),
    updatedAt: z.int(),
  }),
  context: z.strictObject({
    kind: z.literal('context'),
    ref: idSchema('context'),
    dialog: idSchema('dialog').exactOptional(),
    tenant: foreignId,
    owner: foreignId,
    agent: foreignId,
    contextId: foreignId,
    expires: z.int(),
  }),
  task: z.strictObject({
    kind: z.literal('task'),
    activity,
    task: idSchema('task'),
    ref: idSchema('context'),
    tenant: foreignId,
    id: foreignId,
    contextId: foreignId,
    agent: foreignId,
    owner: foreignId,
    caseOwner: foreignId,
    messageId: foreignId.exactOptional(),
    state: taskState,
    awaiting: awaitingWhat.exactOptional(),
    statusAt: timestamp,
    body: z.unknown(),
  }),
  handover: z.strictObject({
    kind: z.literal('handover'),
    activity,
    figures: handoverSchema,
    texts: handoverTextsSchema.exactOptional(),
  }),
  'run-usage': z.strictObject({
    kind: z.literal('run-usage'),
    activity,
    figures: runUsageSchema,
  }),
  content: z.strictObject({
    kind: z.literal('content'),
    activity,
    resource: idSchema('resource'),
    tenant: foreignId,
    keeper: foreignId,
    mediaType: z.string().max(255),
    size: z.int().nonnegative(),
    digest,
    readers: z.array(idSchema('participant')).max(100_000).exactOptional(),
    region: z.string().max(64).exactOptional(),
    until: z.int().exactOptional(),
    /** In base64; absent once its time is over. */
    bytes: z.string().exactOptional(),
  }),
  participant: z.strictObject({
    kind: z.literal('participant'),
    id: idSchema('participant'),
    tenant: foreignId,
    principal: foreignId.exactOptional(),
    url: shortText.exactOptional(),
  }),
} as const;

export const lineSchema = z.discriminatedUnion('kind', [
  lineSchemas.entry,
  lineSchemas.case,
  lineSchemas.context,
  lineSchemas.task,
  lineSchemas.handover,
  lineSchemas['run-usage'],
  lineSchemas.content,
  lineSchemas.participant,
]);
export type Line = z.infer<typeof lineSchema>;
export type LineOf<K extends Line['kind']> = Extract<Line, { kind: K }>;

/** The last line: lines before it, and SHA-256 of their bytes. */
export const endSchema = z.strictObject({
  kind: z.literal('end'),
  lines: z.int().positive(),
  digest: hash,
});

export type Header = z.infer<typeof headerSchema>;

/** Refuses what is no export, and one of a newer program before anything else is looked at. */
export function parseHeader(value: unknown): Header {
  const named = z.looseObject({ format: z.literal(exportFormat), version: z.int() });
  const found = named.safeParse(value);
  if (!found.success) throw badLine(1, `is not the header of a ${exportFormat}`);
  if (found.data.version > exportVersion) {
    throw new ThroughlineError(
      'newer-version',
      `line 1: the file has version ${found.data.version}, this program knows ${exportVersion}; use a newer program`,
      { details: { line: 1, found: found.data.version, known: exportVersion } },
    );
  }
  const header = headerSchema.safeParse(value);
  if (header.success) return header.data;
  throw badLine(1, problemOf(header.error));
}

export function problemOf(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`;
}

/** What a file was refused for, and in which line. */
export function badLine(line: number, problem: string): ThroughlineError {
  return new ThroughlineError(
    'invalid',
    `line ${line}: ${problem}; nothing of the file was written`,
    { details: { line } },
  );
}
