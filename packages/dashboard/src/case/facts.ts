import type { CaseIndex, CaseObject, Relationship } from './case-index.ts';
import { bytes } from '../words/numbers.ts';

/** A labelled value of the details; `id`: of another object, to go there; `isId`: set in the id's face. */
export interface Fact {
  readonly name: string;
  readonly value: string;
  readonly link?: string;
  readonly isId?: boolean;
}

const protocols: Readonly<Record<string, string>> = { a2a: 'A2A', mcp: 'MCP', acp: 'ACP' };

const managed: Readonly<Record<string, string>> = {
  ours: 'each side says so in its messages',
  other: 'by a protocol of their own',
  none: 'seen from outside alone',
};

/** What is known of an object itself, apart from its state and its relationships. */
export function factsOf(index: CaseIndex, object: CaseObject): Fact[] {
  switch (object.kind) {
    case 'activity': {
      const { initiator, firstNext, initialDialog } = object.value;
      return [
        ...linked(index, 'Initiator', initiator),
        ...linked(index, 'First asked', firstNext),
        ...linked(index, 'First dialog', initialDialog),
      ];
    }
    case 'participant':
      return [
        { name: 'Kind', value: object.value.kind },
        ...text('At', object.value.url),
        ...index.view.dialogs
          .filter(({ participants }) => participants.includes(object.value.id))
          .slice(0, 50)
          .flatMap(({ id }) => linked(index, 'Takes part in', id)),
      ];
    case 'dialog': {
      const { participants, invoker, local } = object.value;
      const asker = invoker ?? participants[0];
      return [
        ...text('About', object.value.objective),
        ...participants.flatMap((id) => linked(index, id === asker ? 'Asks' : 'Takes part', id)),
        { name: 'Kept together', value: managed[object.value.managed] ?? object.value.managed },
        ...local.map(({ protocol, localId }, at) => ({
          name: `${at === 0 ? 'Its id' : 'Before, its id'} over ${protocols[protocol] ?? protocol}`,
          value: localId,
          isId: true,
        })),
      ];
    }
    case 'task':
      return [
        ...linked(index, 'Dialog', object.value.dialog),
        ...text('Called there', object.value.localId, true),
      ];
    case 'resource': {
      const { mediaType, size, digest, locator } = object.value;
      return [
        ...text('Type', mediaType),
        ...text('Size', size === undefined ? undefined : bytes(size)),
        ...text('Digest', digest, true),
        ...text('At', locator, true),
      ];
    }
    default:
      return object satisfies never;
  }
}

/** The other end of a relationship, and from where it is read. */
export interface Link {
  readonly edge: Relationship;
  readonly direction: 'forward' | 'backward';
  readonly other: string;
}

/** All relationships of an object, revoked ones last. */
export function linksOf(index: CaseIndex, id: string): Link[] {
  const links = [
    ...index.out(id).map((edge) => ({ edge, direction: 'forward', other: edge.to }) as const),
    ...index.in(id).map((edge) => ({ edge, direction: 'backward', other: edge.from }) as const),
  ];
  return links.toSorted((a, b) => rank(a) - rank(b));
}

const rank = ({ edge }: Link): number => (edge.status === 'active' ? 0 : 1);

const text = (name: string, value: string | undefined, isId = false): Fact[] =>
  value === undefined ? [] : [{ name, value, isId }];

const linked = (index: CaseIndex, name: string, id: string | undefined): Fact[] =>
  id === undefined ? [] : [{ name, value: index.label(id), link: id }];
