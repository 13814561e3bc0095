import { Artifact, Message, Task, TaskStatus } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { agentContextMediaType } from '../../model/agent-context.ts';
import { correlationExtension } from '../../model/envelope.ts';
import { shortText } from '../../model/ids.ts';
import { artifactSeen, TaskChanges, type Seen } from './changes.ts';
import { sha256 } from './digest.ts';
import { notesOfMessage, objectiveOf, shorten } from './notes.ts';

const message = (...parts: Record<string, unknown>[]): Message => Message.fromJSON({ parts });
const resource = `res_${'0'.repeat(26)}`;
const seen: Seen = {
  side: 'server',
  endpoint: 'http://127.0.0.1/',
  client: { kind: 'user', principal: 'alice' },
  server: { kind: 'agent', principal: 'clerk' },
  contextId: 'c1',
  now: new Date(0),
};
const artifact = (json: Record<string, unknown>): Artifact =>
  Artifact.fromJSON({ artifactId: 'a', ...json });

describe('what a message brings', () => {
  it('is its files, data and links; its text is what it asks for', () => {
    const sent = message(
      { text: 'sum these' },
      { text: 'a,b', filename: 'table.csv', mediaType: 'text/csv' },
      { data: { b: 1, a: 2 } },
      { data: {}, mediaType: agentContextMediaType },
    );
    expect(objectiveOf(sent)).toBe('sum these\na,b');
    expect(notesOfMessage(sent, undefined)).toEqual([
      { name: 'table.csv', mediaType: 'text/csv', size: 3, digest: sha256('a,b') },
      { size: 13, digest: sha256('{"a":2,"b":1}') },
    ]);
  });

  it('has the id that the envelope ties to a part, if that is an id of ours', () => {
    const resources = [
      { id: resource, name: 'terms', part: 0 },
      { id: 'alias-of-theirs', part: 1 },
    ];
    const notes = notesOfMessage(message({ text: 'x' }, { text: 'y' }), { v: 1, resources });
    expect(notes.map(({ id, name }) => [id, name])).toEqual([
      [resource, 'terms'],
      [undefined, undefined],
    ]);
  });

  it.each([
    ['https://user:pw@host/a/b?sig=secret#x', 'https://host/a/b'],
    ['data:text/plain,secret', undefined],
    ['not a url', undefined],
  ])('is named by %s without what may be a credential', (url, locator) => {
    expect(notesOfMessage(message({ url }), undefined)[0]?.locator).toBe(locator);
  });
});

describe('a short text', () => {
  it.each(['', '  ', '\0', 'plain', 'x'.repeat(10_000), '😀'.repeat(2_000), '\ud800'])(
    'is made of %j, or is none',
    (text) => {
      const short = shorten(text);
      if (short === undefined) expect(text.replaceAll('\0', '').trim()).toBe('');
      else expect(shortText.parse(short)).toBe(short);
    },
  );
});

const task = (state: 'working' | 'completed', ...artifacts: readonly Artifact[]): Task => ({
  ...Task.fromJSON({ id: 't', contextId: 'c1' }),
  status: TaskStatus.fromJSON({ state: `TASK_STATE_${state.toUpperCase()}` }),
  artifacts: [...artifacts],
});
const grown = (artifactId: string, text: string): Artifact =>
  artifact({ artifactId, parts: [{ text }] });

describe('what an artifact is', () => {
  it('has the id, digest and address that its envelope and link say', () => {
    const digest = `sha-256:${'a'.repeat(64)}`;
    const metadata = { [correlationExtension]: { v: 1, resources: [{ id: resource, digest }] } };
    const parts = [{ url: 'http://127.0.0.1:1/content/x?token=t' }];
    expect(artifactSeen(seen, 't', artifact({ parts, metadata })).resource).toEqual({
      id: resource,
      digest,
      locator: 'http://127.0.0.1:1/content/x',
    });
  });

  it('is known without its envelope when that is malformed', () => {
    const metadata = { [correlationExtension]: { v: 1, resources: 'many' } };
    const note = artifactSeen(seen, 't', artifact({ parts: [{ text: 'x' }], metadata })).resource;
    expect(note).toEqual({ size: 1, digest: sha256('x') });
  });

  it('is told once it has stopped growing', () => {
    let changes = TaskChanges.ofNew();
    const steps = [
      task('working', grown('a', '1')),
      task('working', grown('a', '12')),
      task('working', grown('a', '12'), grown('b', '1')),
      task('working', grown('a', '12'), grown('b', '12')),
      task('completed', grown('a', '12'), grown('b', '12')),
    ].map((each) => {
      const { observations, told } = changes.next(seen, each);
      changes = told;
      return observations.map((o) => (o.kind === 'artifact' ? o.artifactId : o.kind));
    });
    expect(steps).toEqual([['task'], [], ['a'], [], ['b', 'task']]);
  });
});
