import { describe, expect, it } from 'vitest';
import { quote } from '../handover/plain.ts';
import type { Part } from '../handover/parts.ts';
import { itemNameKey, offerMessage } from './offer-message.ts';
import { asWorkflow } from './workflow.ts';

const workflow = asWorkflow({
  name: 'Read',
  subtasks: [
    {
      id: 'read',
      name: 'Read',
      agent: 'reader',
      needs: ['letter'],
      todo: [{ id: 'one', description: 'Read' }],
    },
  ],
});
const told = (...parts: Part[]) =>
  offerMessage(workflow, { parts }).map(({ name, content }) => [name, content]);

describe('what a message offers', () => {
  it('is its text, as the one thing that the workflow needs', () => {
    expect(told({ kind: 'text', text: 'Hello.' })).toEqual([['letter', 'Hello.']]);
  });

  it('is what another Master hands over, by the name that its plan has for it', () => {
    const metadata = { [itemNameKey]: 'letter' };
    for (const text of ['We had 3 rooms.', 'A line\n----- of\n-----1----- dashes'])
      expect(
        told(
          { kind: 'text', text: 'Do: read it' },
          { kind: 'text', text: quote('res_1', text), name: 'res_1', metadata },
        ),
      ).toEqual([
        ['request', 'Do: read it'],
        ['letter', text],
      ]);
  });

  it('keeps lines that only look like the marks of a quotation', () => {
    const text = '----- begin quoted data: res_1 -----\nhalf of it';
    expect(told({ kind: 'text', text, name: 'letter' })).toEqual([['letter', text]]);
    const other = {
      kind: 'text',
      text: 'x',
      name: 'a',
      metadata: { [itemNameKey]: '../b' },
    } as const;
    expect(told(other)).toEqual([['a', 'x']]);
  });
});
