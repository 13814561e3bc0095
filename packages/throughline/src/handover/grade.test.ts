import { describe, expect, it } from 'vitest';
import { graderSpecSchema, type GraderSpecInput } from '../model/grader.ts';
import { makeAgentContext } from './agent-context.ts';
import { checkGraderSpec, gradePurely, type GradeSubject } from './grade.ts';

const paper = 'Patients were followed for 28 days.\n  Of 120 patients, 14 died.';
const answer = (citations: unknown) => JSON.stringify({ answers: [{ answer: '14', citations }] });

const subject: GradeSubject = {
  context: {
    ...makeAgentContext({
      agent: { id: 'a', name: 'A' },
      subtask: { id: 's', name: 'S' },
      dependencies: [],
      items: [],
      todo: [{ id: 'count', description: 'How many died?' }],
      criteria: [],
      confidence: 0,
    }),
    KeyInformation: [{ itemID: 'count', outputabstract: 'fourteen patients' }],
  },
  outputs: new Map([
    ['good.json', answer([{ contextId: 'paper', quote: 'Of 120 patients, 14 died.' }])],
    ['laid-out.json', answer([{ contextId: 'paper', quote: '28 days. Of\n120' }])],
    ['invented.json', answer([{ contextId: 'paper', quote: '15 died' }])],
    ['foreign.json', answer([{ contextId: 'other', quote: '14 died' }])],
    ['malformed.json', answer([{ contextId: 'paper' }])],
    ['none.json', answer([])],
    ['prose.txt', 'fourteen'],
    ['deep.json', `${'['.repeat(50)}${']'.repeat(50)}`],
    ['blank.json', answer([{ contextId: 'paper', quote: '  \n' }])],
  ]),
  materials: new Map([['paper', paper]]),
};

const graded = (input: GraderSpecInput) => {
  const spec = graderSpecSchema.parse(input);
  if (spec.by === 'model' || spec.by === 'function') throw new Error('not a pure one');
  return gradePurely('c', spec, subject);
};

const cited = (output: string, least = 1) => graded({ by: 'citations', of: { output }, least });

describe('a citation check', () => {
  it('passes what quotes what it was given, and says where', () => {
    expect(cited('good.json')).toEqual({
      id: 'c',
      ok: true,
      by: 'citations',
      reason: '1 citations stand where they are said to, 1 are needed',
      evidence: ['good.json', 'paper'],
    });
  });

  it('does not mind how the quotation is laid out', () => {
    expect(cited('laid-out.json').ok).toBe(true);
  });

  it.each([
    ['invented.json', '"15 died" does not stand in paper'],
    ['foreign.json', 'not given: other'],
    ['malformed.json', 'lacks contextId or quote'],
    ['none.json', '0 citations'],
    ['blank.json', 'does not stand in paper'],
    ['prose.txt', 'no JSON'],
    ['deep.json', 'no JSON within bounds'],
    ['absent.json', 'output absent.json is not there'],
  ])('refuses %s: %s', (output, why) => {
    const grade = cited(output);
    expect(grade.ok).toBe(false);
    expect(grade.reason).toContain(why);
  });

  it('asks for as many as it is told to', () => {
    expect(cited('good.json', 2).ok).toBe(false);
  });
});

describe('a pattern', () => {
  it('is looked for in what was told of an item, or in all that was told', () => {
    expect(graded({ by: 'pattern', of: { item: 'count' }, pattern: '^four' }).ok).toBe(true);
    expect(graded({ by: 'pattern', pattern: 'FOUR', ignoreCase: true }).ok).toBe(true);
    expect(graded({ by: 'pattern', pattern: 'FOUR' }).ok).toBe(false);
    expect(graded({ by: 'pattern', of: { item: 'other' }, pattern: '.' }).ok).toBe(false);
  });

  it('may be one that must be absent', () => {
    expect(graded({ by: 'pattern', pattern: 'sorry', absent: true }).ok).toBe(true);
    expect(graded({ by: 'pattern', pattern: 'patients', absent: true }).ok).toBe(false);
  });

  it('of a stranger can’t stall who runs it', () => {
    const long = new Map([['long', `${'a'.repeat(100_000)}!`]]);
    const spec = graderSpecSchema.parse({
      by: 'pattern',
      of: { output: 'long' },
      pattern: '^(a+)+$',
    });
    if (spec.by !== 'pattern') throw new Error('another grader');
    expect(gradePurely('c', spec, { ...subject, outputs: long }).ok).toBe(false);
  });
});

describe('a JSON Schema', () => {
  const schema = {
    type: 'object',
    required: ['answers'],
    properties: { answers: { type: 'array', minItems: 1 } },
  };

  it('accepts or refuses JSON, and says where it is wrong', () => {
    expect(graded({ by: 'schema', of: { output: 'good.json' }, schema }).ok).toBe(true);
    const strict = { ...schema, properties: { answers: { maxItems: 0 } } };
    expect(graded({ by: 'schema', of: { output: 'good.json' }, schema: strict })).toMatchObject({
      ok: false,
      reason: '/answers must NOT have more than 0 items',
    });
    expect(graded({ by: 'schema', of: { output: 'prose.txt' }, schema }).ok).toBe(false);
  });

  it('runs its patterns in linear time and never answers with a promise', () => {
    const slow = {
      properties: { answers: { items: { properties: { answer: { pattern: '^(1+)+$' } } } } },
    };
    expect(graded({ by: 'schema', of: { output: 'good.json' }, schema: slow }).ok).toBe(false);
    const later = { $async: true, type: 'string' };
    expect(graded({ by: 'schema', of: { output: 'good.json' }, schema: later }).ok).toBe(false);
  });
});

const citing = (n: number) => {
  const many = answer(Array.from({ length: n }, () => ({ contextId: 'paper', quote: '14 died' })));
  const outputs = new Map([['many.json', many]]);
  const spec = { by: 'citations', of: { output: 'many.json' }, least: 1 } as const;
  return gradePurely('c', spec, { ...subject, outputs });
};

describe('a schema of a stranger comes to an end', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, level) => {
      const allOf = [1, 2].map(() => ({ $ref: `#/$defs/d${level}` }));
      return [`d${level + 1}`, { allOf }];
    }),
  );
  const text = JSON.stringify({
    answers: [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
  });
  const by = (schema: Record<string, unknown>, output = text) =>
    gradePurely(
      'c',
      { by: 'schema', of: { output: 'o' }, schema },
      {
        ...subject,
        outputs: new Map([['o', output]]),
      },
    );

  it.each([
    ['refers to itself', { $ref: '#' }],
    ['refers to itself by way of another', { anyOf: [{ $ref: '#' }, { type: 'string' }] }],
    ['refers to itself dynamically', { $dynamicAnchor: 'x', $dynamicRef: '#x' }],
    ['doubles its references at each level', { $defs: { ...$defs, d0: {} }, $ref: '#/$defs/d40' }],
  ])('when it %s', (_, schema) => {
    expect(by(schema)).toMatchObject({ ok: false, reason: expect.stringMatching(/no end/) });
  });

  it('when it refers to itself for what is inside', () => {
    const tree = { type: ['object', 'array', 'number'], items: { $ref: '#' } };
    expect(by({ ...tree, additionalProperties: { $ref: '#' } }).ok).toBe(true);
  });

  it('when each of many items has to be another one', () => {
    const unique = { type: 'array', uniqueItems: true };
    const many = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}` }));
    expect(by(unique, JSON.stringify(many)).ok).toBe(true);
    expect(by({ properties: { answers: unique } })).toMatchObject({
      ok: false,
      reason: '/answers must not have the same item twice',
    });
  });

  it('and so do citations: more than a thousand are not looked up', () => {
    expect(citing(1_000).ok).toBe(true);
    expect(citing(1_001)).toMatchObject({ ok: false, reason: 'it has more than 1000 citations' });
  });
});

describe('a grader that could never run', () => {
  it.each<[string, GraderSpecInput]>([
    ['a pattern with a look-ahead', { by: 'pattern', pattern: '(?=x)' }],
    ['a pattern without an end', { by: 'pattern', pattern: '(' }],
    ['a schema that is none', { by: 'schema', schema: { type: 'number of things' } }],
    ['a schema that is elsewhere', { by: 'schema', schema: { $ref: 'https://example.org/s' } }],
  ])('is refused before a run: %s', (_, input) => {
    const spec = graderSpecSchema.parse(input);
    expect(() => checkGraderSpec(spec)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });

  it('is refused when its schema is too large or too deep', () => {
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 40; level++) deep = { not: deep };
    const large = { description: 'x'.repeat(100_000) };
    for (const schema of [deep, large]) {
      expect(() => checkGraderSpec({ by: 'schema', of: undefined, schema })).toThrow(
        expect.objectContaining({ code: 'too-large' }),
      );
    }
  });
});
