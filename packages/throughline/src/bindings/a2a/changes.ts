import type { Artifact, Message, Task } from '@a2a-js/sdk';
import { ThroughlineError } from '../../errors.ts';
import type { Envelope } from '../../model/envelope.ts';
import type { Observation, Party } from '../../model/observation.ts';
import { noteOfArtifact, notesOfMessage, objectiveOf } from './notes.ts';
import { envelopeIn, stateOf, type State } from './wire.ts';

/** Between whom, and seen from which side. */
export interface Peers {
  readonly side: 'server' | 'client';
  /** The server's URL. */
  readonly endpoint: string;
  readonly client: Party;
  readonly server: Party;
}

export interface Seen extends Peers {
  readonly contextId: string;
  readonly envelope?: Envelope | undefined;
  readonly now: Date;
}

const base = ({ side, endpoint, client, server, contextId, envelope, now }: Seen) => ({
  protocol: 'a2a' as const,
  side,
  endpoint,
  contextId,
  client,
  server,
  ...(envelope === undefined ? {} : { envelope }),
  at: now.toISOString(),
});

export function messageSeen(seen: Seen, message: Message, taskId: string | undefined): Observation {
  const objective = objectiveOf(message);
  return {
    ...base(seen),
    kind: 'message',
    messageId: message.messageId,
    ...(taskId === undefined ? {} : { taskId }),
    ...(objective === undefined ? {} : { objective }),
    referenceTaskIds: message.referenceTaskIds,
    resources: notesOfMessage(message, seen.envelope),
  };
}

export const stateSeen = (
  seen: Seen,
  taskId: string,
  state: State,
  objective?: string,
): Observation => ({
  ...base(seen),
  kind: 'task',
  taskId,
  ...(objective === undefined ? {} : { objective }),
  ...state,
});

export const cancelSeen = (seen: Seen, taskId: string): Observation => ({
  ...base(seen),
  kind: 'cancel-request',
  taskId,
});

/** A malformed envelope of the agent's own artifact takes nothing but its correlation away. */
function artifactEnvelope(artifact: Artifact): Envelope | undefined {
  try {
    return envelopeIn(artifact.metadata);
  } catch (error) {
    if (error instanceof ThroughlineError) return undefined;
    throw error;
  }
}

type ArtifactSeen = Extract<Observation, { kind: 'artifact' }>;

const markOf = ({ resource }: ArtifactSeen): string => resource.digest ?? resource.locator ?? '';

export function artifactSeen(seen: Seen, taskId: string, artifact: Artifact): ArtifactSeen {
  return {
    ...base(seen),
    kind: 'artifact',
    taskId,
    artifactId: artifact.artifactId,
    resource: noteOfArtifact(artifact, artifactEnvelope(artifact)),
  };
}

/**
 * What was told of one Task so far. An artifact is told when it first appears, and again when the
 * work stops if it grew meanwhile: a stream of chunks is not a stream of statements.
 */
export class TaskChanges {
  readonly #state: State | undefined;
  /** Artifact id → digest or address as told. */
  readonly #told: ReadonlyMap<string, string>;

  private constructor(state: State | undefined, told: ReadonlyMap<string, string>) {
    this.#state = state;
    this.#told = told;
  }

  static ofNew(): TaskChanges {
    return new TaskChanges(undefined, new Map());
  }

  /** What a stored task holds was told when it was stored. */
  static ofStored(seen: Seen, task: Task): TaskChanges {
    const told = task.artifacts.map((artifact): [string, string] => [
      artifact.artifactId,
      markOf(artifactSeen(seen, task.id, artifact)),
    ]);
    return new TaskChanges(stateOf(task), new Map(told));
  }

  /** Observations of what is new in `task`, and what is told once they are recorded. */
  next(
    seen: Seen,
    task: Task,
    objective?: string,
  ): { observations: Observation[]; told: TaskChanges } {
    const state = stateOf(task);
    const moved = this.#state?.state !== state.state || this.#state.awaiting !== state.awaiting;
    const stopped = moved && state.state !== 'in-progress' && state.state !== 'defined';
    const told = new Map(this.#told);
    const artifacts = task.artifacts.flatMap((artifact) => {
      if (told.has(artifact.artifactId) && !stopped) return [];
      const observation = artifactSeen(seen, task.id, artifact);
      const mark = markOf(observation);
      if (told.get(artifact.artifactId) === mark) return [];
      told.set(artifact.artifactId, mark);
      return [observation];
    });
    const states = moved ? [stateSeen(seen, task.id, state, objective)] : [];
    return { observations: [...artifacts, ...states], told: new TaskChanges(state, told) };
  }
}
