import { z } from 'zod';
import type { StoreReader } from '../store/store.ts';

const saidBy = z.looseObject({ source: z.string() });

/** The Participant that first said anything of an object; undefined while nothing is written of it. */
export async function originOf(reader: StoreReader, about: string): Promise<string | undefined> {
  const [first] = await reader.log({ about, after: 0, limit: 1 });
  return first && saidBy.parse(first.shape).source;
}
