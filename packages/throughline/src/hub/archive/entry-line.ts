import { z } from 'zod';
import { conflictSchema } from '../../model/index.ts';
import { genesis, type StoredLogEntry, type StoreReader } from '../../store/index.ts';
import type { CaseBoxes } from '../case-boxes.ts';
import type { Deps } from '../deps.ts';
import { scopeOf } from '../graph-codec.ts';
import { conflictRecords } from '../recorder.ts';
import { originSchema, type LineOf, type Origin } from './lines.ts';

const shapeSchema = z.looseObject({
  commitment: z.string().optional(),
  origin: originSchema.optional(),
});
const written = z.record(z.string(), z.unknown());
const namesInShape = z.looseObject({
  source: z.string().optional(),
  statement: z.looseObject({
    participants: z.array(z.string()).optional(),
    participant: z.string().optional(),
    initiator: z.string().optional(),
  }),
});

/** Ids of the Participants that an entry names, its source among them. */
export function participantsIn(shape: unknown): string[] {
  const { source, statement } = namesInShape.parse(shape);
  const { participants = [], participant, initiator } = statement;
  return [...participants, participant, initiator, source].flatMap((id) =>
    id === undefined || id === 'hub' ? [] : id,
  );
}

/** An entry with where it was recorded first, and what is left of its content. */
export async function entryLine(
  deps: Deps,
  from: { reader: StoreReader; boxes: CaseBoxes; shapeOnly: boolean },
  entry: StoredLogEntry,
): Promise<LineOf<'entry'>> {
  const { reader, boxes, shapeOnly } = from;
  const { id, about, activity, sealed } = entry;
  const { origin = await originHere(deps, reader, entry), ...shape } = shapeSchema.parse(
    entry.shape,
  );
  const line = {
    kind: 'entry',
    ...origin,
    id,
    about,
    ...(activity === undefined ? {} : { activity }),
    shape,
  } as const;
  if (shapeOnly) return line;
  const box = await boxes.of(scopeOf(about, activity));
  // A Participant that was forgotten and met again has another key: what was said before is gone.
  const isGone =
    activity === undefined && sealed !== undefined && box?.opens(`log/${id}`, sealed) !== true;
  if (box !== undefined && sealed !== undefined && !isGone) {
    const { salt, value } = box.openSalted(`log/${id}`, sealed, shape.commitment);
    const content = written.parse(value);
    return { ...line, content, salt: Buffer.from(salt).toString('base64url') };
  }
  if (box !== undefined || activity === undefined) return line;
  // Of an erased case only the note that it was kept apart tells which rule an entry broke.
  const kept = await conflictRecords.get(reader, () => undefined, id);
  return kept === undefined
    ? line
    : { ...line, broke: conflictSchema.shape.rule.parse(kept.shape.rule) };
}

async function originHere(
  { origin: domain }: Deps,
  reader: StoreReader,
  { seq, hash }: StoredLogEntry,
): Promise<Origin> {
  const [before] = seq === 1 ? [] : await reader.log({ after: seq - 2, limit: 1 });
  return { domain, seq, previous: before?.hash ?? genesis, hash };
}
