import type { Artifact, Message, Part } from '@a2a-js/sdk';
import { Part as WirePart } from '@a2a-js/sdk';
import { agentContextMediaType } from '../../model/agent-context.ts';
import type { Envelope } from '../../model/envelope.ts';
import { idKind, shortText } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import type { ResourceNote } from '../../model/observation.ts';
import { sha256, sortedJson } from './digest.ts';
import { textOf } from './wire.ts';

type Named = NonNullable<Envelope['resources']>[number];

/** The longest beginning that is a short text of the model; undefined when nothing is left. */
export function shorten(text: string): string | undefined {
  const clean = text.toWellFormed().replaceAll('\0', '').trim();
  if (clean === '') return undefined;
  if (shortText.safeParse(clean).success) return clean;
  // A character takes at most 3 bytes per UTF-16 unit, and the ellipsis 3.
  const units = Math.floor(limits.textBytes / 3) - 1;
  return `${clean
    .slice(0, units)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`;
}

/** What a message asks for, as far as its text says it. */
export const objectiveOf = (message: Message): string | undefined => shorten(textOf(message.parts));

/** Address without what may be a credential: userinfo, query, fragment. */
function locatorOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host, pathname } = new URL(url);
  return protocol === 'http:' || protocol === 'https:'
    ? shorten(`${protocol}//${host}${pathname}`)
    : undefined;
}

/** The bytes that a part's digest is taken of; undefined when it only points elsewhere. */
function bytesOf({ content }: Part): Uint8Array | undefined {
  if (content?.$case === 'text') return Buffer.from(content.value, 'utf8');
  if (content?.$case === 'data') return Buffer.from(sortedJson(content.value), 'utf8');
  return content?.$case === 'raw' ? content.value : undefined;
}

const optional = <K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> => {
  const entry: Partial<Record<K, V>> = {};
  if (value !== undefined) entry[key] = value;
  return entry;
};

const bounded = (mediaType: string): string | undefined =>
  mediaType === '' || mediaType.length > 255 ? undefined : mediaType;

/** Of one part: what it is, by value its digest and size, by reference its address. */
function noteOfPart(part: Part, named: Named | undefined, name: string): ResourceNote {
  const bytes = bytesOf(part);
  const locator = part.content?.$case === 'url' ? locatorOf(part.content.value) : undefined;
  return {
    ...optional(
      'id',
      named !== undefined && idKind(named.id) === 'resource' ? named.id : undefined,
    ),
    ...optional('name', shorten(named?.name ?? (part.filename === '' ? name : part.filename))),
    ...optional('mediaType', named?.mediaType ?? bounded(part.mediaType)),
    ...optional('size', bytes?.length),
    ...optional('digest', bytes === undefined ? named?.digest : sha256(bytes)),
    ...optional('locator', locator),
  };
}

/**
 * Resources that a message brings: parts that the envelope ties to an id, files, data, links. Plain
 * text is what it asks for, and an AgentContext is the hand-over itself: neither is a Resource.
 */
export function notesOfMessage(message: Message, envelope: Envelope | undefined): ResourceNote[] {
  return message.parts.slice(0, limits.parts).flatMap((part, index) => {
    const named = envelope?.resources?.find((resource) => resource.part === index);
    const plain = part.content?.$case === 'text' && part.filename === '';
    const skipped = plain || part.mediaType === agentContextMediaType;
    return named === undefined && skipped ? [] : [noteOfPart(part, named, '')];
  });
}

/** Of an artifact; several parts are one Resource with the digest of them all. */
export function noteOfArtifact(artifact: Artifact, envelope: Envelope | undefined): ResourceNote {
  const named = envelope?.resources?.[0];
  const [part] = artifact.parts;
  if (part !== undefined && artifact.parts.length === 1) {
    return noteOfPart(part, named, artifact.name);
  }
  const text = sortedJson(artifact.parts.map((each) => WirePart.toJSON(each)));
  return {
    ...optional(
      'id',
      named !== undefined && idKind(named.id) === 'resource' ? named.id : undefined,
    ),
    ...optional('name', shorten(named?.name ?? artifact.name)),
    mediaType: 'application/json',
    size: Buffer.byteLength(text),
    digest: sha256(text),
  };
}
