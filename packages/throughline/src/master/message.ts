import { createHash } from 'node:crypto';
import { plainMessage } from '../handover/plain.ts';
import { agentContextMediaType } from '../model/agent-context.ts';
import { contentAccessKey, type ContentAccess } from '../model/content.ts';
import { correlationExtension, type Envelope } from '../model/envelope.ts';
import type { AgentConnection, KnownAgent, OutgoingMessage } from './connection.ts';
import type { RunContext } from './context.ts';
import type { Attempt, RunItem } from './run-state.ts';

/** Seconds by which a right to read outlives the attempt's deadline, where a hub allows so many. */
const graceSeconds = 30;
const longestSeconds = 600;

export interface ComposedMessage {
  readonly message: OutgoingMessage;
  /** What the agent gets to read: the message as it goes out, then contents by reference. */
  readonly sent: string;
}

/**
 * The message of an attempt. An agent that declares AgentContexts gets its own as one part; any other
 * agent gets a plain message with contents by value. The rights to read the items travel in the
 * message's metadata: they are renewed whenever the message is sent again, while its parts, by which a
 * server knows a repeated message, stay the same.
 */
export async function composeMessage(
  run: RunContext,
  attempt: Attempt,
  agent: KnownAgent,
  connection: AgentConnection,
): Promise<ComposedMessage> {
  const items = itemsOf(run, attempt);
  const base = { messageId: attempt.messageId };
  if (!connection.extensions.has(contentAccessKey)) {
    const contents = await Promise.all(
      items.map(async ({ ref }) => ({
        contextId: ref.resource,
        content: await run.contents.content(ref),
      })),
    );
    const message: OutgoingMessage = {
      ...base,
      parts: plainMessage(attempt.context, contents),
      // The first part is the text that says what to do.
      envelope: envelopeOf(run, attempt, items, 1),
      extensions: [correlationExtension],
    };
    return { message, sent: connection.encode(message) };
  }
  const message = (access: ContentAccess): OutgoingMessage => ({
    ...base,
    parts: [{ kind: 'data', data: attempt.context, mediaType: agentContextMediaType }],
    metadata: { [contentAccessKey]: access },
    envelope: envelopeOf(run, attempt, items),
    extensions: [contentAccessKey, correlationExtension],
  });
  const access = await accessTo(run, attempt, agent, items);
  const texts = await Promise.all(items.map(({ ref }) => run.contents.text(ref)));
  return {
    message: message(access),
    sent: [connection.encode(message(blunt(access))), ...texts].join('\n'),
  };
}

/** Items that an attempt hands over; those of equal bytes are one. */
function itemsOf(run: RunContext, attempt: Attempt): readonly RunItem[] {
  const items = attempt.items.flatMap(
    (name) => run.journal.state.items.find((each) => each.name === name) ?? [],
  );
  return [...new Map(items.map((each) => [each.ref.resource, each])).values()];
}

async function accessTo(
  run: RunContext,
  attempt: Attempt,
  agent: KnownAgent,
  items: readonly RunItem[],
): Promise<ContentAccess> {
  const left = (Date.parse(attempt.deadline) - run.now().getTime()) / 1_000;
  const seconds = Math.min(longestSeconds, Math.max(1, Math.ceil(left)) + graceSeconds);
  const entries = await Promise.all(
    items.map(async ({ ref }) => {
      const token = await run.ports.readToken({ uri: ref.uri, audience: agent.id, seconds });
      return [ref.resource, { digest: ref.digest, size: ref.size, token }] as const;
    }),
  );
  return Object.fromEntries(entries);
}

/**
 * The same, with the last segment of each token replaced by as many characters of its digest: it
 * counts like the one that went out, and opens nothing wherever it is kept.
 */
function blunt(access: ContentAccess): ContentAccess {
  return Object.fromEntries(
    Object.entries(access).map(([id, { token, ...rest }]) => {
      const head = token.slice(0, token.lastIndexOf('.') + 1);
      const secret = token.slice(head.length);
      const digest = createHash('sha512').update(secret).digest('base64url');
      const blunted = digest.repeat(Math.ceil(secret.length / digest.length));
      return [id, { ...rest, token: head + blunted.slice(0, secret.length) }];
    }),
  );
}

/** `firstPart`: index of the part that carries the first item by value; absent: by reference. */
function envelopeOf(
  run: RunContext,
  attempt: Attempt,
  items: readonly RunItem[],
  firstPart?: number,
): Envelope {
  const resources = items.map(({ ref }, at) => ({
    id: ref.resource,
    ...(firstPart !== undefined && { part: firstPart + at }),
  }));
  return {
    v: 1,
    dialog: attempt.dialog,
    activity: run.journal.state.activity,
    task: attempt.task,
    ...(resources.length > 0 && { resources }),
    manifest: { resources: resources.length, relationships: 0, assertions: 0 },
  };
}
