/** The examples whose parts can be told to run in processes of their own, by name. */
import { z } from 'zod';
import type { Play } from '../../examples/world/story.ts';

const playNames = ['diagnosis', 'research', 'with-a-model'] as const;
export type PlayName = (typeof playNames)[number];

/** Variable with the address at which models answer; the same as everybody's. */
export const modelUrl = 'THROUGHLINE_MODEL_URL';

/** Each process loads its own alone: it is started often. */
const plays: Readonly<Record<PlayName, (env: NodeJS.ProcessEnv) => Promise<Play>>> = {
  diagnosis: async () => (await import('../../examples/diagnosis/play.ts')).diagnosis,
  research: async () => (await import('../../examples/research/play.ts')).research,
  'with-a-model': async (env) => {
    const { withAModel } = await import('../../examples/with-a-model/play.ts');
    return withAModel(env[modelUrl] ?? '');
  },
};

export const playNamed = (name: PlayName, env: NodeJS.ProcessEnv): Promise<Play> =>
  plays[name](env);

/** What a process that plays a part is told of it. */
export const partSchema = z.object({
  CHAOS_PLAY: z.enum(playNames),
  /** Id of the agent, or of the Master. */
  CHAOS_PART: z.string(),
  CHAOS_NOTES: z.string(),
  CHAOS_DATA: z.string(),
  /** The Master's: who there is, in JSON. */
  CHAOS_AGENTS: z.string().default('[]'),
});
