import { ThroughlineError } from '../errors.ts';
import { isText } from '../handover/media.ts';
import type { Part } from '../handover/parts.ts';
import type { ContextItem } from '../model/agent-context.ts';
import { foreignId } from '../model/ids.ts';
import type { Workflow } from '../model/workflow.ts';
import type { OfferedContent } from './offer.ts';
import { surroundingNames } from './surroundings.ts';

/** ContextType by media type. */
export function contextTypeOf(mediaType: string): ContextItem['ContextType'] {
  if (mediaType === 'text/plain') return 'text';
  if (mediaType === 'text/csv') return 'table';
  if (mediaType === 'application/json') return 'dataset';
  const [kind] = mediaType.split('/');
  if (kind === 'image' || kind === 'audio' || kind === 'video') return kind;
  return isText(mediaType) || mediaType === 'application/pdf' ? 'document' : 'other';
}

/** Key of a part's metadata under which another Master says how its plan calls the content. */
export const itemNameKey = 'throughline/item';

/** What a part goes by; empty: it has no name. */
function nameOf({ name = '', metadata }: Part): string {
  const said = metadata?.[itemNameKey];
  return typeof said === 'string' && foreignId.safeParse(said).success ? said : name;
}

/**
 * What a user's message offers to a workflow: each part that has a name by that name, all other text as
 * the one item that the workflow needs and gets from nobody else (`request` where there is not just one).
 *
 * @throws ThroughlineError `unsupported` for a part by URL, which nobody has read.
 */
export function offerMessage(
  workflow: Workflow,
  { parts }: { readonly parts: readonly Part[] },
): OfferedContent[] {
  const named = parts.filter((part) => nameOf(part) !== '' || part.kind !== 'text');
  const offered = named.map((part, at) => itemOf(part, nameOf(part) || `attachment-${at + 1}`));
  const words = parts.flatMap((part) =>
    part.kind === 'text' && !named.includes(part) ? [part.text] : [],
  );
  if (words.length === 0) return offered;
  const isGiven = (name: string): boolean => offered.some((each) => each.name === name);
  const [name = 'request', another] = inputsOf(workflow).filter((each) => !isGiven(each));
  const common = {
    type: 'text',
    mediaType: 'text/plain',
    description: 'What the user wrote',
  } as const;
  const content = words.join('\n');
  return [{ ...common, name: another === undefined ? name : 'request', content }, ...offered];
}

/** Names of what a workflow needs from outside: neither made by it, nor known of where it runs. */
export function inputsOf({ subtasks }: Workflow): string[] {
  const made = new Set<string>([
    ...Object.values(surroundingNames),
    ...subtasks.flatMap(({ produces }) => produces.map(({ name }) => name)),
  ]);
  const needed = subtasks.flatMap(({ needs }) => needs.map(({ item }) => item));
  return [...new Set(needed)].filter((name) => !made.has(name));
}

function itemOf(part: Part, name: string): OfferedContent {
  const { content, mediaType } = contentOf(part);
  const description = `The ${name}, from the user`;
  return { name, type: contextTypeOf(mediaType), mediaType, description, content };
}

/** Between the lines by which another Master marks a text as data (`quote`): they are none of it. */
const quotation = /^(-{5}\S*) begin quoted data: .* \1\n([^]*)\n\1 end quoted data \1$/;

const unquoted = (text: string): string => quotation.exec(text)?.[2] ?? text;

function contentOf(part: Part): { content: string | Uint8Array<ArrayBuffer>; mediaType: string } {
  switch (part.kind) {
    case 'text':
      return { content: unquoted(part.text), mediaType: part.mediaType ?? 'text/plain' };
    case 'data':
      return { content: JSON.stringify(part.data), mediaType: 'application/json' };
    case 'bytes':
      return {
        content: new Uint8Array(part.bytes),
        mediaType: part.mediaType ?? 'application/octet-stream',
      };
    case 'url':
      throw new ThroughlineError(
        'unsupported',
        'A part by URL is not read; send its content in the message.',
      );
    default:
      return part satisfies never;
  }
}
