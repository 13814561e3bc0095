import { describe, expect, it } from 'vitest';
import type { ContextItem } from '../model/agent-context.ts';
import { type OfferedItem, select } from './select.ts';

const item = (name: string): OfferedItem => ({
  name,
  item: {
    ContextID: `res-${name}`,
    ContextType: 'text',
    MediaType: 'text/plain',
    ContextURI: `https://hub.test/content/${name}`,
    Description: name,
    Priority: 'compressible',
  } satisfies ContextItem,
});
const offered = ['terms', 'transactions', 'card-code'].map(item);

describe('selecting context', () => {
  it('hands over what the subtask needs and names what it withholds', () => {
    const { chosen, withheld } = select({ id: 's', needs: ['terms'] }, offered);
    expect(chosen.map(({ name }) => name)).toEqual(['terms']);
    expect(withheld).toEqual(['transactions', 'card-code']);
  });

  it('takes an empty selection to mean empty', () => {
    const { chosen, withheld } = select({ id: 's', needs: [] }, offered);
    expect(chosen).toEqual([]);
    expect(withheld).toHaveLength(3);
  });

  it('hands each item over once, however often it is named', () => {
    expect(select({ id: 's', needs: ['terms', 'terms'] }, offered).chosen).toHaveLength(1);
  });

  it('hands over nothing when a name is unknown', () => {
    expect(() => select({ id: 's', needs: ['terms', 'diary'] }, offered)).toThrow(
      /Subtask s: diary was chosen but not offered; nothing was handed over/,
    );
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['gives no list', () => JSON.parse('null')],
    ['gives something that is no name', () => JSON.parse('[1]')],
  ])('hands over nothing when the selector %s', (_, selector) => {
    expect(() => select({ id: 's', needs: ['terms'] }, offered, selector)).toThrow(
      /nothing was handed over/,
    );
  });
});
