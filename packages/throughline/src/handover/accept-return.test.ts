import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentContextSchema, type AgentContext } from '../model/agent-context.ts';
import { acceptReturn } from './accept-return.ts';
import { makeAgentContext } from './agent-context.ts';

const sent = makeAgentContext({
  agent: { id: 'checker', name: 'Account checker' },
  subtask: { id: 'check', name: 'Check the cash back' },
  dependencies: ['res-terms'],
  items: [
    {
      ContextID: 'res-terms',
      ContextType: 'document',
      MediaType: 'text/plain',
      ContextURI: 'https://hub.test/content/res-terms',
      Description: 'Card terms',
      Priority: 'must_preserve',
    },
  ],
  todo: [
    { id: 'one', description: 'Recompute' },
    { id: 'two', description: 'List' },
  ],
  criteria: [{ id: 'all-rows', description: 'Every row', required: true }],
  confidence: 0.8,
});

const done = {
  ItemStateUpdates: [
    { itemID: 'one', state: 1, took: '3 s' },
    { itemID: 'two', state: 0 },
  ],
  KeyInformation: [{ itemID: 'one', outputabstract: '4 rows are wrong' }],
  LastUpdated: '2026-11-30T10:00:00Z',
};

describe('an AgentContext before execution', () => {
  it('is valid, with every item at 0, no key information and an empty evaluation', () => {
    expect(agentContextSchema.parse(sent)).toEqual(sent);
    expect(sent.ItemStateUpdates).toEqual([
      { itemID: 'one', state: 0 },
      { itemID: 'two', state: 0 },
    ]);
    expect(sent.KeyInformation).toEqual([]);
    expect(sent.EvaluationResult.Status).toBe('');
  });
});

describe('accepting a return', () => {
  it('takes over the fields that an agent may write, unknown fields in them included', () => {
    const { context, dropped } = acceptReturn(sent, { ...sent, ...done });
    expect(context).toEqual({ ...sent, ...done });
    expect(dropped).toEqual([]);
  });

  it('drops and names what is new elsewhere', () => {
    const returned = {
      ...sent,
      ...done,
      Plan: 'take over',
      ContextItems: sent.ContextItems.map((item) => ({ ...item, Extra: 1 })),
    };
    const { context, dropped } = acceptReturn(sent, returned);
    expect(context).toEqual({ ...sent, ...done });
    expect(dropped).toEqual(['ContextItems[0].Extra', 'Plan']);
  });

  const change = (fields: Readonly<Record<string, unknown>>): unknown => ({ ...sent, ...fields });
  it.each([
    ['AgentID', change({ AgentID: 'other' })],
    ['SubTaskID', change({ SubTaskID: undefined })],
    ['Dependencies', change({ Dependencies: [] })],
    ['Dependencies[0]', change({ Dependencies: ['res-other'] })],
    ['ContextItems', change({ ContextItems: null })],
    [
      'ContextItems[0].Priority',
      change({ ContextItems: [{ ...sent.ContextItems[0], Priority: 'discardable' }] }),
    ],
    [
      'todoItems[1].description',
      change({ todoItems: [sent.todoItems[0], { itemID: 'two', description: '' }] }),
    ],
    [
      'EvaluationPolicy.ConfidenceThreshold',
      change({ EvaluationPolicy: { ...sent.EvaluationPolicy, ConfidenceThreshold: 0 } }),
    ],
    ['ItemStateUpdates[0].itemID', change({ ItemStateUpdates: [{ itemID: 'three', state: 1 }] })],
    ['ItemStateUpdates[0].state', change({ ItemStateUpdates: [{ itemID: 'one', state: 2 }] })],
    [
      'KeyInformation[1].itemID',
      change({
        KeyInformation: [
          { itemID: 'one', outputabstract: 'a' },
          { itemID: 'one', outputabstract: 'b' },
        ],
      }),
    ],
    ['EvaluationResult', change({ EvaluationResult: 'passed' })],
    [
      'EvaluationResult.CriterionResults[0].CriterionID',
      change({
        EvaluationResult: {
          ...sent.EvaluationResult,
          CriterionResults: [
            { CriterionID: 'mine', Status: 'passed', EvidenceRefs: [], TraceRefs: [] },
          ],
        },
      }),
    ],
  ])('refuses a return that changes %s', (path, returned) => {
    let refusal: unknown;
    try {
      acceptReturn(sent, returned);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: 'invalid', details: { path } });
  });

  it.each([[null], ['done'], [[sent]], [undefined]])('refuses %j', (returned) => {
    expect(() => acceptReturn(sent, returned)).toThrow(/not an object/);
  });

  it('refuses what is too large or too deep, by name', () => {
    const large = change({ KeyInformation: [{ itemID: 'one', outputabstract: 'x'.repeat(3e5) }] });
    expect(() => acceptReturn(sent, large)).toThrow(/larger than 262144 bytes/);
    const deep: unknown = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    expect(() => acceptReturn(sent, change({ more: deep }))).toThrow(/deeper than 32 levels/);
  });

  it('never lets anything but the four fields through, whatever is returned', () => {
    const keys = Object.keys(sent);
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...keys, 'New', '__proto__'), fc.jsonValue()),
        (fields) => {
          let context: AgentContext;
          try {
            ({ context } = acceptReturn(sent, { ...sent, ...fields }));
          } catch {
            return;
          }
          const {
            ItemStateUpdates: _1,
            KeyInformation: _2,
            EvaluationResult: _3,
            LastUpdated: _4,
            ...rest
          } = context;
          const {
            ItemStateUpdates: _5,
            KeyInformation: _6,
            EvaluationResult: _7,
            ...before
          } = sent;
          expect(rest).toEqual(before);
        },
      ),
    );
  });
});
