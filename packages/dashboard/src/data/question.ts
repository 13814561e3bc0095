import { useQuery } from '@tanstack/react-query';
import { z } from 'zod';
import { useSource } from './context.ts';

/** Characters of a question that are shown. */
const mostShown = 2_000;
const mostParts = 16;

/** Of an A2A task as its agent keeps it: the message beside its state. */
const askedSchema = z.object({
  status: z.object({
    message: z.object({ parts: z.array(z.object({ text: z.string().optional() })) }),
  }),
});

/** The words with which a task waits, from the record that its agent keeps; undefined where there are none. */
export function questionIn(body: unknown): string | undefined {
  const asked = askedSchema.safeParse(body).data;
  const parts = (asked?.status.message.parts ?? []).slice(0, mostParts);
  const words = parts
    .flatMap(({ text }) => text ?? [])
    .join('\n')
    .trim();
  if (words === '') return undefined;
  return words.length > mostShown ? `${words.slice(0, mostShown)} …` : words;
}

/** What a task asks; undefined until it is read, and where the viewer may not read it. */
export function useQuestion(localId: string | undefined, stateSeq = 0): string | undefined {
  const { hub, principal } = useSource().session;
  const { data } = useQuery({
    queryKey: ['question', localId, stateSeq],
    enabled: localId !== undefined,
    queryFn: async () =>
      questionIn((await hub.loadTask({ principal }, localId ?? ''))?.body) ?? null,
  });
  return data ?? undefined;
}
