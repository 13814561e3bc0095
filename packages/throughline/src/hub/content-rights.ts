import { idSchema, type Principal } from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { may } from './authorize.ts';
import type { ContentNote } from './content-records.ts';
import type { Deps } from './deps.ts';
import type { Participants } from './participants.ts';

/** Resource behind a ContextURI of this hub, or undefined for any other URI. */
export function resourceOf({ origin }: Pick<Deps, 'origin'>, uri: string): string | undefined {
  const prefix = `${origin}/content/`;
  if (!uri.startsWith(prefix)) return undefined;
  return idSchema('resource').safeParse(uri.slice(prefix.length)).data;
}

export const uriOf = ({ origin }: Pick<Deps, 'origin'>, resource: string): string =>
  `${origin}/content/${resource}`;

/** Whether content is open to a principal without a token. Reads as much for content that is not there. */
export async function isTheirs(
  participants: Participants,
  reader: StoreReader,
  by: Principal,
  note: ContentNote | undefined,
): Promise<boolean> {
  const participant = await participants.of(reader, by);
  if (note?.content === undefined) return false;
  const { tenant, keeper } = note.content;
  if (may(by, 'keep', { tenant, keeper })) return true;
  // Whoever joined the Dialog later was not handed what was put out before.
  const takesPart = participant !== undefined && note.shape.readers?.includes(participant);
  return may(by, 'assert', { tenant, takesPart: takesPart === true });
}
