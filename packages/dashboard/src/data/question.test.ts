import { describe, expect, it } from 'vitest';
import { questionIn } from './question.ts';

const asks = (...parts: object[]) => ({ status: { message: { parts } } });

describe('the question of a task', () => {
  it('is the text beside its state, of all parts that are text', () => {
    const body = asks({ text: 'Which month?' }, { data: {} }, { text: ' May? ' });
    expect(questionIn(body)).toBe('Which month?\n May?');
  });

  it('is cut where it is long, in length and in parts', () => {
    expect(questionIn(asks({ text: 'x'.repeat(9_000) }))).toHaveLength(2_002);
    const many = Array.from({ length: 99 }, () => ({ text: 'x' }));
    expect(questionIn(asks(...many))?.split('\n')).toHaveLength(16);
  });

  it.each([undefined, null, 'text', {}, asks(), asks({ text: ' ' }), asks({ text: 3 })])(
    'is none in %j',
    (body) => expect(questionIn(body)).toBeUndefined(),
  );
});
