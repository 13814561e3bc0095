import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { assertWithin } from '../handover/json-bounds.ts';
import type { Part } from '../handover/parts.ts';
import {
  agentContextMediaType,
  agentContextSchema,
  type AgentContext,
} from '../model/agent-context.ts';
import { contentAccessKey, contentAccessSchema, type ContentAccess } from '../model/content.ts';
import { limits } from '../model/limits.ts';

/** What an AgentContext may take on its way in; contents come by reference. */
const bounds = { bytes: 1_048_576, depth: limits.jsonDepth };

export interface IncomingContext {
  readonly context: AgentContext;
  /** Absent: nothing of it may be read. */
  readonly access?: ContentAccess;
}

/**
 * The AgentContext in a message, with the rights to read its items, from the message's metadata or
 * that of its part; undefined when the message has none.
 *
 * @throws ThroughlineError `invalid` for one that is malformed or addressed to somebody else,
 *   `too-large` beyond the bounds.
 */
export function readContext(
  parts: readonly Part[],
  metadata: Readonly<Record<string, unknown>> | undefined,
  self: string,
): IncomingContext | undefined {
  const [part, second] = parts.filter(({ mediaType }) => mediaType === agentContextMediaType);
  if (part === undefined) return undefined;
  if (second !== undefined || part.kind !== 'data') {
    throw new ThroughlineError('invalid', 'A message carries one AgentContext, as one data part.');
  }
  assertWithin(part.data, bounds, 'The AgentContext');
  const context = agentContextSchema.safeParse(part.data);
  if (!context.success) {
    throw new ThroughlineError(
      'invalid',
      `The AgentContext is not valid:\n${z.prettifyError(context.error)}`,
    );
  }
  if (context.data.AgentID !== self) {
    throw new ThroughlineError(
      'invalid',
      `AgentID: this AgentContext is for another agent than ${self}.`,
    );
  }
  checkDistinct(context.data);
  const given = part.metadata?.[contentAccessKey] ?? metadata?.[contentAccessKey];
  if (given === undefined) return { context: context.data };
  const access = contentAccessSchema.safeParse(given);
  if (!access.success) {
    throw new ThroughlineError(
      'invalid',
      `metadata["${contentAccessKey}"] is not valid: it holds a token, and digest and size by ContextID.`,
    );
  }
  return { context: context.data, access: access.data };
}

/** Of two with one id, nobody could say which is meant. */
function checkDistinct({ ContextItems, todoItems, EvaluationPolicy }: AgentContext): void {
  const lists = [
    ['ContextItems', ContextItems.map(({ ContextID }) => ContextID)],
    ['todoItems', todoItems.map(({ itemID }) => itemID)],
    ['SuccessCriteria', EvaluationPolicy.SuccessCriteria.map(({ CriterionID }) => CriterionID)],
  ] as const;
  const list = lists.find(([, ids]) => new Set(ids).size < ids.length);
  if (list === undefined) return;
  throw new ThroughlineError('invalid', `${list[0]}: an id is there twice; give each its own.`);
}
