import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
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
});

it('a workflow file may name its schema, for editors', () => {
  const named = `$schema: ../node_modules/throughline/dist/schemas/workflow.json\n${file.trimStart()}`;
  expect(parseWorkflow(named)).toMatchObject({ name: 'Cash back' });
});
