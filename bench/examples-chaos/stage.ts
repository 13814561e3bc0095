/** Where an example is played, again and again, while its parts are killed. */
import { randomUUID } from 'node:crypto';
import { connectA2a } from 'throughline/a2a';
import type { Random } from '../chaos/random.ts';
import { also, type Outcome } from './outcome.ts';

/** What is killed; agents are told apart by name in the log. */
export type Role = 'master' | 'agent' | 'hub';

export interface Victim {
  readonly role: Role;
  readonly name: string;
  /** It had work of its own under way. */
  readonly atWork: boolean;
}

export interface Playing {
  readonly isOver: () => boolean;
  /** Once it is over, whatever came of it. */
  readonly over: Promise<void>;
  /** What came of it, once it is over. */
  outcome(): Promise<Outcome>;
}

export interface Stage {
  /** How likely each role is to be killed. */
  readonly weights: readonly (readonly [Role, number])[];
  play(): Promise<Playing>;
  /** Ends it as a crash would, and starts it again where it was. */
  kill(role: Role, random: Random): Promise<Victim>;
  /** Rejects when something ends without being killed. */
  readonly ended: Promise<never>;
  close(): Promise<void>;
  /** Where all of it is kept. */
  readonly folder: string;
}

/** Milliseconds that one run may take, whatever is killed meanwhile. */
export const runMs = 600_000;

/** How a caller waits for what is killed. */
const patience = { attempts: 2_000, firstMs: 50, capMs: 500, forMs: runMs } as const;

/** Sends one message and follows it to its end, whatever is killed meanwhile. */
export async function playing(
  to: { url: string; key: string; name: string; text: string },
  outcomeOf: (taskId: string, contextId: string) => Promise<Outcome>,
): Promise<Playing> {
  const { url, key, name } = to;
  const self = { kind: 'user', name } as const;
  const client = await connectA2a({ url, credential: `Bearer ${key}`, self, retry: patience });
  const parts = [{ kind: 'text' as const, text: to.text }];
  const message = { messageId: randomUUID(), parts };
  let isOver = false;
  const sent = client.send(message, { timeoutMs: runMs }).finally(() => {
    isOver = true;
  });
  return {
    isOver: () => isOver,
    over: sent.then(
      () => undefined,
      () => undefined,
    ),
    outcome: async () => {
      try {
        const { taskId = '', contextId, state } = await sent;
        const again = await client.send(message, { timeoutMs: runMs });
        const { tasks } = await client.listTasks({ contextId });
        return also(await outcomeOf(taskId, contextId), {
          doubled: [
            ...(again.taskId === taskId ? [] : [`the same message is ${again.taskId ?? ''}, too`]),
            ...(tasks.length === 1 ? [] : [`${tasks.length} tasks of one message`]),
          ],
          different: state === 'completed' ? [] : [`the request is ${state}`],
        });
      } finally {
        await client.close();
      }
    },
  };
}
