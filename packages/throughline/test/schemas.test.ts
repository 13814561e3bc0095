import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { jsonSchemas } from '../src/model/json-schemas.ts';
import {
  agentContextSchema,
  taskContextSchema,
  type AgentContext,
  type TaskContext,
} from '../src/model/index.ts';
import { repository } from './source.ts';

const folder = join(repository, 'spec/schemas');
const remake = 'spec/schemas is stale; run: node scripts/schemas.mjs';
const published = (name: string): object =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));

/** Formats are left to the patterns beside them. */
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });

describe('the published schemas', () => {
  const names = Object.keys(jsonSchemas());

  it('are those of the model, no more and no fewer', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
    expect(files.toSorted(), remake).toEqual(names.map((name) => `${name}.json`).toSorted());
  });

  it.each(names)('%s is what the model says now', (name) => {
    expect(published(name), remake).toEqual(JSON.parse(JSON.stringify(jsonSchemas()[name])));
  });

  it.each(names)('%s is a valid schema under a stable id', (name) => {
    const schema = published(name);
    expect(schema).toMatchObject({ $id: `https://throughline.dev/schemas/v1/${name}.json` });
    expect(ajv.validateSchema(schema)).toBe(true);
  });
});

/** Figure 3 of the draft, filled in. */
const taskContext: TaskContext = {
  TaskID: 'tsk_00000000000000000000000000',
  UserQuery: 'Why is my cash back lower than I expected?',
  TaskName: 'Recheck cash back',
  TaskDescription: 'Find the payouts that do not follow the published terms.',
  GoalStatus: [
    { Goal: 'Find the terms', Status: 'completed' },
    { Goal: 'Recompute each payout', Status: 'in-progress' },
    { Goal: 'Write to the customer', Status: '' },
  ],
  OverallStatus: 'in-progress',
  StartTime: '2031-01-01T09:00:00Z',
  EndTime: '',
  Optional: ['StartTime', 'EndTime'],
};

/** Figure 4 of the draft, filled in. */
const agentContext: AgentContext = {
  AgentID: 'policy-reader',
  AgentName: 'Policy reader',
  SubTaskID: 'tsk_00000000000000000000000001',
  SubTaskName: 'Find the terms',
  Dependencies: [],
  ContextItems: [
    {
      ContextID: 'res_00000000000000000000000000',
      ContextType: 'document',
      MediaType: 'text/markdown',
      ContextURI: 'https://hub.example/content/res_00000000000000000000000000',
      Description: 'Terms of the cash back programme',
      Priority: 'must_preserve',
    },
  ],
  CompressionPolicy: {
    Strategy: 'target_ratio',
    TargetRatio: 0.3,
    LossTolerance: 'low',
    MustPreserveFields: ['KeyInformation', 'Dependencies', 'ContextItems[].Description'],
  },
  todoItems: [
    { itemID: '1', description: 'Find the section on rates' },
    { itemID: '2', description: 'Find the section on exclusions' },
  ],
  ItemStateUpdates: [
    { itemID: '1', state: 1 },
    { itemID: '2', state: 0 },
  ],
  KeyInformation: [{ itemID: '1', outputabstract: 'Travel pays 3%.' }],
  EvaluationPolicy: {
    SuccessCriteria: [{ CriterionID: 'cites', Description: 'Each rate is cited', Required: true }],
    ConfidenceThreshold: 0.8,
  },
  EvaluationResult: {
    Status: 'partial',
    Confidence: 0.7,
    CriterionResults: [
      { CriterionID: 'cites', Status: 'passed', EvidenceRefs: ['res_1'], TraceRefs: [] },
    ],
    FailureReason: '',
  },
  LastUpdated: '2031-01-01T09:05:00Z',
  Optional: ['LastUpdated', 'CompressionPolicy'],
};

/** The same JSON with one field, at any depth, under another name. */
function rename(value: unknown, from: string, to: string): unknown {
  const text = JSON.stringify(value);
  const renamed = text.replaceAll(`"${from}":`, `"${to}":`);
  if (renamed === text) throw new Error(`there is no field ${from}`);
  return JSON.parse(renamed);
}

describe('contexts as the draft prints them', () => {
  const check = {
    'task-context': ajv.compile(published('task-context')),
    'agent-context': ajv.compile(published('agent-context')),
  };

  it('are valid by the published schemas and by the code', () => {
    expect(check['task-context'](taskContext), ajv.errorsText(check['task-context'].errors)).toBe(
      true,
    );
    expect(
      check['agent-context'](agentContext),
      ajv.errorsText(check['agent-context'].errors),
    ).toBe(true);
    expect(taskContextSchema.parse(taskContext)).toEqual(taskContext);
    expect(agentContextSchema.parse(agentContext)).toEqual(agentContext);
  });

  it('may leave out what Optional names', () => {
    const { StartTime: _start, EndTime: _end, ...untimed } = taskContext;
    const { LastUpdated: _updated, CompressionPolicy: _policy, ...bare } = agentContext;
    expect(check['task-context'](untimed)).toBe(true);
    expect(check['agent-context'](bare)).toBe(true);
  });

  it.each([
    ['UserQuery', 'userQuery'],
    ['GoalStatus', 'Goals'],
    ['Goal', 'goal'],
    ['StartTime', 'startTime'],
  ])('a TaskContext with %s called %s is refused', (from, to) => {
    expect(check['task-context'](rename(taskContext, from, to))).toBe(false);
  });

  it.each([
    ['todoItems', 'TodoItems'],
    ['itemID', 'itemId'],
    ['outputabstract', 'outputAbstract'],
    ['ContextURI', 'ContextUri'],
    ['LastUpdated', 'lastUpdated'],
    ['CompressionPolicy', 'compressionPolicy'],
    ['FailureReason', 'failureReason'],
  ])('an AgentContext with %s called %s is refused', (from, to) => {
    expect(check['agent-context'](rename(agentContext, from, to))).toBe(false);
  });

  it('keeps what an agent adds where it may write, and refuses it elsewhere', () => {
    const [first] = agentContext.KeyInformation;
    const added = { ...agentContext, KeyInformation: [{ ...first, confidence: 'high' }] };
    expect(check['agent-context'](added)).toBe(true);
    expect(agentContextSchema.parse(added)).toEqual(added);
    expect(check['agent-context']({ ...agentContext, mood: 'good' })).toBe(false);
  });
});
