import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { criteriaGrader } from '../models/grade-criteria.ts';
import { checkAgents } from './check-agents.ts';
import { checkPlan } from './check-plan.ts';
import { jsonSchemas } from '../model/json-schemas.ts';
import { asWorkflow, parseWorkflow } from './workflow.ts';

const file = `
name: Cash back
subtasks:
  - id: find
    name: Find the terms
    agent: reader
    needs: [question, { item: library, role: source }]
    produces: [{ name: terms, description: Terms of the card, type: document }]
    todo: [{ id: look, description: Look them up }]
    criteria: [{ id: found, description: A document is named }]
  - id: check
    name: Check the transactions
    agent: checker
    dependsOn: [find]
    needs: [terms, transactions]
    todo: [{ id: sum, description: Add up }]
`;
/** Nine to the ninth words, in a few lines. */
const aliasBomb = Array.from(
  { length: 10 },
  (_, at) =>
    `l${at}: &l${at} [${Array(9)
      .fill(at === 0 ? 'word' : `*l${at - 1}`)
      .join(', ')}]`,
).join('\n');
const ground = {
  agents: ['reader', 'checker'],
  offered: ['question', 'library', 'transactions'],
};

describe('a workflow file', () => {
  it('is read with its defaults', () => {
    const workflow = parseWorkflow(file);
    expect(workflow.subtasks[0]).toMatchObject({
      needs: [{ item: 'question' }, { item: 'library', role: 'source' }],
      produces: [{ name: 'terms', priority: 'compressible' }],
      criteria: [{ id: 'found', required: true }],
      evaluation: 'strict',
      attempts: 2,
      timeoutSeconds: 300,
    });
    checkPlan(workflow, ground);
  });

  it('reads again what it gave', () => {
    const workflow = parseWorkflow(file);
    expect(asWorkflow(JSON.parse(JSON.stringify(workflow)))).toEqual(workflow);
  });

  it.each([
    ['name: [', /is not YAML/],
    ['name: x\nname: y', /is not YAML/],
    ['name: x', /subtasks/],
    [file.replace('agent: reader', 'agnet: reader'), /agnet/],
    [file.replace('id: find', 'id: ../find'), /one path segment/],
    ['x'.repeat(300_000), /at most 262144 bytes/],
    [aliasBomb, /is not YAML: .*alias/],
  ])('is refused with what is wrong: %.30s', (text, problem) => {
    expect(() => parseWorkflow(text)).toThrow(problem);
  });

  it('has a JSON Schema that takes what we take', () => {
    const validate = new Ajv2020({ strict: false }).compile(jsonSchemas()['workflow'] ?? false);
    expect(validate(parseWorkflow(file))).toBe(true);
    expect(validate({ name: 'x', subtasks: [] })).toBe(false);
  });
});

const planted = (from: string, to: string): (() => void) => {
  const workflow = parseWorkflow(file.replace(from, to));
  return () => checkPlan(workflow, ground);
};

const compression = (strategy: string): string =>
  `compression: { Strategy: ${strategy}, TargetRatio: 0.5, LossTolerance: low, MustPreserveFields: [] }`;

const graded = (grade: string): (() => void) => {
  const is = 'description: A document is named';
  const plan = parseWorkflow(file.replace(is, `${is}, grade: ${grade}`));
  return () => checkPlan(plan, { ...ground, checkGrader: criteriaGrader().check });
};

describe('a plan is checked before it runs', () => {
  it.each([
    ['agent: checker', 'agent: nobody', 'subtask check: agent nobody is not known'],
    ['dependsOn: [find]', 'dependsOn: [fund]', 'check depends on fund, which is not in'],
    [
      'dependsOn: [find]',
      'dependsOn: []',
      'needs terms of subtask find: add find to its dependsOn',
    ],
    ['transactions]', 'diary]', 'subtask check needs diary, which nobody offers or produces'],
    ['id: check', 'id: find', 'subtask find is there twice'],
    ['name: terms', 'name: library', 'item library is offered and produced'],
    ['agent: reader', 'agent: reader\n    dependsOn: [check]', 'find, check wait for each other'],
    ['{ id: look,', '{ id: look, description: x }, { id: look,', 'item look is there twice'],
  ])('%s → %s', (from, to, problem) => {
    expect(planted(from, to)).toThrow(problem);
  });

  const todo = 'todo: [{ id: look, description: Look them up }]';
  it('for ways of compression that there are', () => {
    expect(planted(todo, `${todo}\n    ${compression('magic')}`)).toThrow(
      /subtask find: compression: .*magic.* use target_ratio/,
    );
    expect(planted(todo, `${todo}\n    ${compression('target_ratio')}`)).not.toThrow();
  });

  it.each([
    ['{ by: pattern, of: { item: nope }, pattern: x }', 'item nope is not in its todo'],
    ['{ by: pattern, pattern: "(" }', 'can’t be used'],
    ['{ by: model }', 'asks for a model to grade it, and this process has none'],
    ['{ by: function, name: mine }', 'asks for the grader mine, which this process does not have'],
  ])('for graders that can run: %s', (grade, problem) => {
    expect(graded(grade)).toThrow(/subtask find: criterion found: /);
    expect(graded(grade)).toThrow(problem);
  });

  it('and takes graders that there are means for', () => {
    const { check: checkGrader } = criteriaGrader({
      functions: { mine: () => ({ ok: true, reason: '' }) },
    });
    const is = 'description: A document is named';
    const plan = parseWorkflow(file.replace(is, `${is}, grade: { by: function, name: mine }`));
    expect(() => checkPlan(plan, { ...ground, checkGrader })).not.toThrow();
    expect(graded('{ by: pattern, of: { item: look }, pattern: x }')).not.toThrow();
  });
});

describe('agents are checked before any plan', () => {
  const agent = { id: 'reader', name: 'reader', url: 'http://127.0.0.1:4702' };
  it.each([
    [[agent, agent], 'agent reader: is there twice'],
    [[{ ...agent, url: 'ftp://127.0.0.1/' }], "agent reader: the agent's address must be an http"],
    [[{ ...agent, url: 'http://agent.example/' }], 'plain http to another machine is refused'],
    [[{ ...agent, url: 'https://a:b@agent.example/' }], 'must not hold a credential'],
  ])('%j', (agents, problem) => {
    expect(() => checkAgents(agents)).toThrow(problem);
  });

  it('and taken where they may be called', () => {
    expect(() =>
      checkAgents([agent, { ...agent, id: 'b', url: 'https://b.example/' }]),
    ).not.toThrow();
    expect(() => checkAgents([{ ...agent, url: 'http://agent.example/' }], true)).not.toThrow();
  });
});

it('a workflow file may say again what stands elsewhere in it, by aliases and merge keys', () => {
  const todo = '[{ id: one, description: One }]';
  const { subtasks } = parseWorkflow(
    `name: Twice\nsubtasks:\n  - &a { id: a, name: A, agent: reader, todo: ${todo} }\n  - { <<: *a, id: b }`,
  );
  expect(subtasks.map(({ id, name, todo: items }) => [id, name, items[0]?.id])).toEqual([
    ['a', 'A', 'one'],
    ['b', 'A', 'one'],
  ]);
});

it('a workflow file may name its schema, for editors', () => {
  const named = `$schema: ../node_modules/throughline/dist/schemas/workflow.json\n${file.trimStart()}`;
  expect(parseWorkflow(named)).toMatchObject({ name: 'Cash back' });
});
