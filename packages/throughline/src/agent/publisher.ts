import type { AgentSideOptions } from '../bindings/a2a/agent-side.ts';
import { agentText, partToWire, stateToWire, type State } from '../bindings/a2a/wire.ts';
import { ThroughlineError } from '../errors.ts';
import type { Part } from '../handover/parts.ts';
import { agentContextMediaType, type AgentContext } from '../model/agent-context.ts';
import { contentAccessKey, type ContentRef } from '../model/content.ts';
import { correlationExtension, type Envelope } from '../model/envelope.ts';

export type Executor = AgentSideOptions['executor'];
export type Request = Parameters<Executor['execute']>[0];
export type Bus = Parameters<Executor['execute']>[1];
type Wire = Extract<Parameters<Bus['publish']>[0], { kind: 'artifactUpdate' }>['data']['artifact'];
type Artifact = NonNullable<Wire>;

/** Says in A2A's words what happens to one task. */
export class Publisher {
  readonly #bus: Bus;
  readonly #ids: { readonly taskId: string; readonly contextId: string };
  readonly #now: () => Date;

  constructor(bus: Bus, ids: { taskId: string; contextId: string }, now: () => Date) {
    this.#bus = bus;
    this.#ids = ids;
    this.#now = now;
  }

  /** The first word on a task: that it is being worked on. */
  begin(request: Request): void {
    const { task, userMessage } = request;
    this.#bus.publish({
      kind: 'task',
      data: {
        id: this.#ids.taskId,
        contextId: this.#ids.contextId,
        status: this.#status({ state: 'in-progress' }),
        artifacts: task?.artifacts ?? [],
        history: task?.history ?? [userMessage],
        metadata: task?.metadata,
      },
    });
  }

  /** `progress` travels in the update's metadata (design of the context exchange: item states). */
  state(state: State, options: { text?: string; progress?: Record<string, unknown> } = {}): void {
    const { text, progress } = options;
    this.#bus.publish({
      kind: 'statusUpdate',
      data: {
        ...this.#ids,
        status: this.#status(state, text),
        metadata: progress === undefined ? undefined : { [contentAccessKey]: progress },
      },
    });
  }

  /** Output by reference: the bytes are in the content store. */
  reference(name: string, ref: ContentRef): void {
    const envelope: Envelope = {
      v: 1,
      resources: [
        {
          id: ref.resource,
          name,
          mediaType: ref.mediaType,
          digest: ref.digest,
          uri: ref.uri,
          part: 0,
        },
      ],
    };
    const part: Part = { kind: 'url', url: ref.uri, mediaType: ref.mediaType, name };
    this.#artifact(name, [part], { [correlationExtension]: envelope }, [correlationExtension]);
  }

  /** Output by value. */
  value(name: string, parts: readonly Part[]): void {
    this.#artifact(name, parts, undefined, []);
  }

  /** The updated AgentContext, which is what a Master waits for; figures beside it in its part. */
  returned(context: AgentContext, beside: Readonly<Record<string, unknown>>): void {
    const part: Part = {
      kind: 'data',
      data: context,
      mediaType: agentContextMediaType,
      ...(Object.keys(beside).length > 0 && { metadata: { [contentAccessKey]: beside } }),
    };
    this.#artifact('agent-context', [part], undefined, [contentAccessKey]);
  }

  /** An artifact is named by what it is, so that a re-run of the task replaces it. */
  #artifact(
    name: string,
    parts: readonly Part[],
    metadata: Artifact['metadata'],
    extensions: string[],
  ): void {
    this.#bus.publish({
      kind: 'artifactUpdate',
      data: {
        ...this.#ids,
        artifact: {
          artifactId: name,
          name,
          description: '',
          parts: parts.map(partToWire),
          metadata,
          extensions,
        },
        append: false,
        lastChunk: true,
        metadata: undefined,
      },
    });
  }

  #status(state: State, text?: string): ReturnType<typeof statusOf> {
    return statusOf(state, this.#now(), text, this.#ids);
  }
}

function statusOf(
  state: State,
  now: Date,
  text: string | undefined,
  ids: { taskId: string; contextId: string },
) {
  const wire = stateToWire(state);
  if (wire === undefined) {
    throw new ThroughlineError('internal', `A2A has no word for the state ${state.state}`);
  }
  return {
    state: wire,
    message: text === undefined ? undefined : agentText({ messageId: '', ...ids }, text),
    timestamp: now.toISOString(),
  };
}
