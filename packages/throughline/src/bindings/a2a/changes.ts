import type { Artifact, Message, Task } from '@a2a-js/sdk';
import { ThroughlineError } from '../../errors.ts';
import type { Envelope } from '../../model/envelope.ts';
import type { Observation, Party } from '../../model/observation.ts';
import { noteOfArtifact, notesOfMessage, objectiveOf } from './notes.ts';
import { envelopeIn, isSettled, stateOf, type State } from './wire.ts';

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

interface Noted {
  /** Changes when it grows; cheap to take, unlike a digest. */
  readonly extent: number;
  /** Digest or address as told; undefined until it is told. */
  readonly told: string | undefined;
}

const extentOf = ({ parts }: Artifact): number => {
  const lengths = parts.map(({ content }) =>
    content === undefined || content.$case === 'data' ? 1 : content.value.length,
  );
  return lengths.reduce((sum, length) => sum + length, parts.length);
};

/**
 * What was told of one Task so far. An artifact is told when it has stopped growing: it came through
 * an update unchanged, or the work stopped. A stream of chunks is one Resource, not many.
 */
export class TaskChanges {
  readonly #state: State | undefined;
  readonly #noted: ReadonlyMap<string, Noted>;

  private constructor(state: State | undefined, noted: ReadonlyMap<string, Noted>) {
    this.#state = state;
    this.#noted = noted;
  }

  static ofNew(): TaskChanges {
    return new TaskChanges(undefined, new Map());
  }

  /** What a stored task holds was told. Its last artifact may have been growing still. */
  static ofStored(seen: Seen, task: Task): TaskChanges {
    const state = stateOf(task);
    const whole = isSettled(state) ? task.artifacts : task.artifacts.slice(0, -1);
    const noted = whole.map((artifact): [string, Noted] => {
      const told = markOf(artifactSeen(seen, task.id, artifact));
      return [artifact.artifactId, { extent: extentOf(artifact), told }];
    });
    return new TaskChanges(state, new Map(noted));
  }

  /** Observations of what is new in `task`, and what is told once they are recorded. */
  next(
    seen: Seen,
    task: Task,
    objective?: string,
  ): { observations: Observation[]; told: TaskChanges } {
    const state = stateOf(task);
    const settled = isSettled(state);
    const moved = this.#state?.state !== state.state || this.#state.awaiting !== state.awaiting;
    const noted = new Map(this.#noted);
    const artifacts = task.artifacts.flatMap((artifact) => {
      const before = noted.get(artifact.artifactId);
      if (before?.told !== undefined && !settled) return [];
      const extent = extentOf(artifact);
      if (before?.extent !== extent && !settled) {
        noted.set(artifact.artifactId, { extent, told: undefined });
        return [];
      }
      const observation = artifactSeen(seen, task.id, artifact);
      const told = markOf(observation);
      noted.set(artifact.artifactId, { extent, told });
      return before?.told === told ? [] : [observation];
    });
    const states = moved ? [stateSeen(seen, task.id, state, objective)] : [];
    return { observations: [...artifacts, ...states], told: new TaskChanges(state, noted) };
  }
}
