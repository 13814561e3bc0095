import { createHash } from 'node:crypto';
import type { Part } from '../handover/parts.ts';
import { plainMessage } from '../handover/plain.ts';
import { agentContextMediaType } from '../model/agent-context.ts';
import {
  contentAccessKey,
  readTokenSeconds,
  renewableSeconds,
  type ContentAccess,
  type HandedGraders,
} from '../model/content.ts';
import { isPure } from '../model/grader.ts';
import { correlationExtension, type Envelope } from '../model/envelope.ts';
import { checkHanded } from './check-handed.ts';
import type { AgentConnection, KnownAgent, OutgoingMessage } from './connection.ts';
import type { RunContext } from './context.ts';
import { itemNameKey } from './offer-message.ts';
import type { Asked, Attempt, RunItem } from './run-state.ts';

/** Seconds by which a right to read outlives the attempt's deadline, where a hub allows so many. */
const graceSeconds = 30;

export interface ComposedMessage {
  readonly message: OutgoingMessage;
  /** What the agent gets to read: the message as it goes out, then contents by reference. */
  readonly sent: string;
}

/**
 * The message of an attempt. An agent that declares AgentContexts gets its own as one part; any other
 * agent gets a plain message with contents by value. The rights to read the items travel in the
 * message's metadata: they are renewed whenever the message is sent again, while its parts, by which a
 * server knows a repeated message, stay the same. Before the first sending each item is looked at.
 *
 * @throws ThroughlineError for an item that can't be handed over, naming it.
 */
export async function composeMessage(
  run: RunContext,
  attempt: Attempt,
  agent: KnownAgent,
  connection: AgentConnection,
): Promise<ComposedMessage> {
  const items = itemsOf(run, attempt);
  const base = { messageId: attempt.messageId };
  if (!attempt.asserted) await checkHanded(run, attempt, items);
  if (!connection.extensions.has(contentAccessKey)) {
    const contents = await Promise.all(
      items.map(async ({ ref }) => ({
        contextId: ref.resource,
        content: await run.contents.content(ref),
      })),
    );
    const message: OutgoingMessage = {
      ...base,
      parts: plainMessage(attempt.context, contents).map((part) => asNamed(part, items)),
      // The first part is the text that says what to do.
      envelope: envelopeOf(run, attempt, items, 1),
      extensions: [correlationExtension],
    };
    return { message, sent: connection.encode(message) };
  }
  const message = (access: ContentAccess | undefined): OutgoingMessage => ({
    ...base,
    parts: [{ kind: 'data', data: attempt.context, mediaType: agentContextMediaType }],
    ...(access && { metadata: { [contentAccessKey]: access } }),
    envelope: envelopeOf(run, attempt, items),
    extensions: [contentAccessKey, correlationExtension],
  });
  const access = await accessTo(run, attempt, { agent, connection }, items);
  const texts = await Promise.all(items.map(({ ref }) => run.contents.forCounting.text(ref)));
  return {
    message: message(access),
    sent: [connection.encode(message(access && blunt(access))), ...texts].join('\n'),
  };
}

/**
 * What answers an agent's question, on the task that it was asked in. The rights to read come with it anew:
 * those of before may be over.
 */
export async function composeAnswer(
  run: RunContext,
  attempt: Attempt,
  { ref, messageId }: NonNullable<Asked['answer']>,
  to: { readonly agent: KnownAgent; readonly connection: AgentConnection },
): Promise<OutgoingMessage> {
  const { dialog, task, local } = attempt;
  const takesContexts = to.connection.extensions.has(contentAccessKey);
  const access = takesContexts
    ? await accessTo(run, attempt, to, itemsOf(run, attempt))
    : undefined;
  return {
    messageId,
    ...(local?.taskId !== undefined && { taskId: local.taskId, contextId: local.contextId }),
    ...(access && { metadata: { [contentAccessKey]: access } }),
    parts: [{ kind: 'text', text: await run.contents.text(ref) }],
    envelope: {
      v: 1,
      dialog,
      activity: run.journal.state.activity,
      task,
      resources: [{ id: ref.resource, part: 0 }],
      manifest: { resources: 1, relationships: 0, assertions: 0 },
    },
    extensions: [...(takesContexts ? [contentAccessKey] : []), correlationExtension],
  };
}

/** Says how the plan calls an item: another Master finds by that what its own plan needs. */
const asNamed = (part: Part, items: readonly RunItem[]): Part => {
  const name = items.find(({ ref }) => ref.resource === part.name)?.name;
  return name === undefined
    ? part
    : { ...part, metadata: { ...part.metadata, [itemNameKey]: name } };
};

/** Items that an attempt hands over; those of equal bytes are one. */
function itemsOf(run: RunContext, attempt: Attempt): readonly RunItem[] {
  const items = attempt.items.flatMap(
    (name) => run.journal.state.items.find((each) => each.name === name) ?? [],
  );
  return [...new Map(items.map((each) => [each.ref.resource, each])).values()];
}

/**
 * One right to read all items of the hub's store, and what each item must be when it comes; nothing where
 * there are none. Another store gets to see a token of its own alone, where it has one.
 */
async function accessTo(
  run: RunContext,
  attempt: Attempt,
  { agent, connection }: { agent: KnownAgent; connection: AgentConnection },
  items: readonly RunItem[],
): Promise<ContentAccess | undefined> {
  const graders = gradersOf(run, attempt);
  if (items.length === 0 && graders === undefined) return undefined;
  const left = (Date.parse(attempt.deadline) - run.now().getTime()) / 1_000;
  const needed = Math.max(1, Math.ceil(left)) + graceSeconds;
  const seconds = Math.min(readTokenSeconds, needed);
  const uris = items.flatMap(({ ref }) => (ref.foreign === undefined ? [ref.uri] : []));
  const { proofKey } = connection;
  const request = {
    uris,
    audience: agent.id,
    seconds,
    // Work that takes longer reads on by renewing it, to the deadline and no further.
    ...(needed > seconds && { renewableSeconds: Math.min(renewableSeconds, needed) }),
    ...(proofKey !== undefined && { thumbprint: proofKey }),
  };
  const token = uris.length === 0 ? undefined : await run.ports.readToken(request);
  const entries: [string, ContentAccess['items'][string]][] = [];
  for (const { ref } of items) {
    const { resource, digest, size, uri, foreign } = ref;
    const { stores } = run.contents;
    const own = foreign === undefined ? undefined : await stores?.token?.(uri, agent.id);
    entries.push([resource, { digest, size, ...(own !== undefined && { token: own }) }]);
  }
  return {
    ...(token !== undefined && { token }),
    items: Object.fromEntries(entries),
    ...(graders && { graders }),
  };
}

/** How the agent can find out for itself whether its criteria are met, where data says how. */
function gradersOf({ journal }: RunContext, { task }: Attempt): HandedGraders | undefined {
  const { subtasks, workflow } = journal.state;
  const found = workflow.subtasks.find(({ id }) =>
    subtasks[id]?.attempts.some((each) => each.task === task),
  );
  const graders = (found?.criteria ?? []).flatMap(({ id, grade }) =>
    grade !== undefined && isPure(grade) ? [[id, grade] as const] : [],
  );
  return graders.length === 0 ? undefined : Object.fromEntries(graders);
}

/** The same, with tokens that count like those that went out, and open nothing wherever they are kept. */
function blunt({ token, items, ...rest }: ContentAccess): ContentAccess {
  const blunted = Object.entries(items).map(([id, { token: own, ...item }]) => [
    id,
    { ...item, ...(own !== undefined && { token: bluntToken(own) }) },
  ]);
  return {
    ...rest,
    ...(token !== undefined && { token: bluntToken(token) }),
    items: Object.fromEntries(blunted),
  };
}

/** Its last segment, which is all of it where it has no segments, as so many characters of its digest. */
function bluntToken(token: string): string {
  const head = token.slice(0, token.lastIndexOf('.') + 1);
  const secret = token.slice(head.length);
  const digest = createHash('sha512').update(secret).digest('base64url');
  const blunted = digest.repeat(Math.ceil(secret.length / digest.length));
  return head + blunted.slice(0, secret.length);
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
