import type { AgentConnection, AgentTask, Connect } from './connection.ts';

/** Milliseconds after which a connection is not joined any more: cards change, and credentials end. */
const joinedForMs = 60_000;
/** Milliseconds that opening one may take, whoever still waits for it. */
const openingMs = 30_000;

interface Shared {
  readonly opening: Promise<AgentConnection>;
  readonly openedAt: number;
  users: number;
}

/**
 * Lets those who are connected to the same agent at the same time share one connection: its card is read
 * and its credential made once for them. One that failed anybody is not joined by others; the last one
 * to leave closes it.
 */
export function sharing(connect: Connect): Connect {
  const open = new Map<string, Shared>();
  return async (agent, signal) => {
    const { id, url, behind, credential } = agent;
    const key = JSON.stringify([id, url, behind, credential]);
    const known = open.get(key);
    const isFresh = known !== undefined && performance.now() - known.openedAt < joinedForMs;
    const shared: Shared = isFresh
      ? known
      : {
          opening: connect(agent, AbortSignal.timeout(openingMs)),
          openedAt: performance.now(),
          users: 0,
        };
    open.set(key, shared);
    shared.users += 1;
    const drop = (): void => {
      if (open.get(key) === shared) open.delete(key);
    };
    const leave = async (): Promise<void> => {
      shared.users -= 1;
      if (shared.users > 0) return;
      drop();
      await (await shared.opening).close();
    };
    let connection: AgentConnection;
    try {
      connection = await shared.opening;
    } catch (error) {
      drop();
      throw error;
    }
    if (signal.aborted) await leave();
    signal.throwIfAborted();
    return oneUse(connection, drop, leave);
  };
}

function oneUse(
  connection: AgentConnection,
  failed: () => void,
  leave: () => Promise<void>,
): AgentConnection {
  let left: Promise<void> | undefined;
  async function* watched(tasks: AsyncIterable<AgentTask>): AsyncGenerator<AgentTask> {
    try {
      yield* tasks;
    } catch (error) {
      failed();
      throw error;
    }
  }
  return {
    ...connection,
    send: (...given) => watched(connection.send(...given)),
    follow: (...given) => watched(connection.follow(...given)),
    close: () => (left ??= leave()),
  };
}
