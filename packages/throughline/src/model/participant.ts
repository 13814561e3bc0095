import { z } from 'zod';
import { idSchema, shortText } from './ids.ts';

/** Roles such as AIE and FNE are derived from the graph, never stored on a Participant. */
export const participantKinds = [
  'user',
  'agent',
  'tool',
  'application',
  'invoking-system',
] as const;

export const participantKind = z.enum(participantKinds);
export type ParticipantKind = z.infer<typeof participantKind>;

export const participantSchema = z.object({
  id: idSchema('participant'),
  kind: participantKind,
  name: shortText.optional(),
  /** Card or server URL. */
  url: shortText.optional(),
});
export type Participant = z.infer<typeof participantSchema>;
