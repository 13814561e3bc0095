import { describe, expect, it } from 'vitest';
import { contentFields, draftSchema, statementSchema } from './assertion.ts';
import { envelopeSchema } from './envelope.ts';
import { makeId } from './ids.ts';
import { jsonSchemas } from './json-schemas.ts';

const id = makeId('task', new Uint8Array(16));

describe('a statement', () => {
  it('says only what the model knows', () => {
    const odd = { says: 'task.forgotten' };
    expect(statementSchema.safeParse(odd).success).toBe(false);
    expect(statementSchema.safeParse({ says: 'task.state', state: 'paused' }).success).toBe(false);
  });

  it('loses fields that it does not have', () => {
    const said = { says: 'task.cancel-requested', password: 'x' };
    expect(statementSchema.parse(said)).toEqual({ says: 'task.cancel-requested' });
  });

  it('is reported unless it says otherwise', () => {
    const draft = { about: id, statement: { says: 'task.cancel-requested' } };
    expect(draftSchema.parse(draft).basis).toBe('reported');
  });

  /** Text that a statement may hold and that is safe in the clear, because we chose the words or made the id. */
  const inTheClear = ['says', 'type', 'from', 'to', 'mediaType', 'digest', 'activity', 'initiator'];

  /** Fields of a form of their own with somebody else's words in them: ids, paths, labels. */
  const asWhole = ['local', 'selector', 'label', 'labels'];

  it('has every free text among the fields that are kept encrypted', () => {
    const schema = jsonSchemas()['statement'];
    const free = [...new Set(freeTexts(JSON.parse(JSON.stringify(schema)), ''))];
    expect(free.filter((name) => !inTheClear.includes(name)).toSorted()).toEqual(
      contentFields.filter((name) => !asWhole.includes(name)).toSorted(),
    );
    expect(contentFields).toEqual(expect.arrayContaining(asWhole));
  });
});

/** Names of the string fields that a length alone bounds, of each statement and of lists in it. */
function freeTexts(schema: unknown, name: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((each: unknown) => freeTexts(each, name));
  if ('oneOf' in schema) return freeTexts(schema.oneOf, name);
  if ('type' in schema && schema.type === 'string') {
    return 'maxLength' in schema && !('enum' in schema) ? [name] : [];
  }
  if (!('properties' in schema) || typeof schema.properties !== 'object') return [];
  return Object.entries(schema.properties ?? {})
    .filter(([key]) => key !== 'local' && key !== 'selector')
    .flatMap(([key, value]) => freeTexts(value, key));
}

describe('an envelope', () => {
  it('needs no more than its version', () => {
    expect(envelopeSchema.parse({ v: 1 })).toEqual({ v: 1 });
  });

  it.each([
    ['another version', { v: 2 }],
    ['no version', {}],
    ['an alias that is too long', { v: 1, dialog: 'x'.repeat(65) }],
    ['an empty alias', { v: 1, task: '' }],
    ['too many resources', { v: 1, resources: Array.from({ length: 65 }, () => ({ id: 'r' })) }],
    [
      'a relationship of a made-up type',
      { v: 1, relationships: [{ type: 'likes', from: 'a', to: 'b' }] },
    ],
    ['a negative count', { v: 1, manifest: { resources: -1, relationships: 0, assertions: 0 } }],
  ])('is refused with %s', (_what, envelope) => {
    expect(envelopeSchema.safeParse(envelope).success).toBe(false);
  });

  it('may show a relationship and withhold its type', () => {
    const envelope = { v: 1, relationships: [{ from: 'a', to: 'b' }] };
    expect(envelopeSchema.parse(envelope)).toEqual(envelope);
  });
});
