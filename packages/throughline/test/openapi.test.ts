import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApi } from '../src/server/openapi.ts';
import { problems } from '../src/server/problem.ts';
import { hubRoutes, routeGroups } from '../src/server/routes.ts';
import { repository } from './source.ts';

const remake = 'spec/openapi.json is stale; run: node scripts/schemas.mjs';
const text = readFileSync(join(repository, 'spec/openapi.json'), 'utf8');

const parameter = z.union([
  z.looseObject({ name: z.string(), in: z.string(), required: z.boolean() }),
  z.looseObject({ $ref: z.string() }),
]);
const operationSchema = z.looseObject({
  operationId: z.string(),
  summary: z.string().min(10),
  parameters: z.array(parameter).default([]),
  responses: z.record(z.string(), z.looseObject({})),
});
const described = z
  .looseObject({
    openapi: z.literal('3.1.0'),
    paths: z.record(z.string(), z.record(z.string(), operationSchema)),
    components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) }),
  })
  .parse(JSON.parse(text));
const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

describe('the committed description of the API', () => {
  it('is what the routes say now', () => {
    const now = openApi(routeGroups, 'https://hub.example');
    expect(JSON.parse(text), remake).toEqual(JSON.parse(JSON.stringify(now)));
  });

  it('has one operation a route, each with a name of its own, and health, metrics, the page’s sessions', () => {
    expect(operations).toHaveLength(hubRoutes.length + 4);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  it('refers to nothing that it does not hold', () => {
    for (const [, path = ''] of text.matchAll(/"\$ref": "#\/([^"]+)"/g)) {
      let at: unknown = described;
      for (const step of path.split('/')) {
        at = z.record(z.string(), z.unknown()).parse(at)[step];
      }
      expect({ path, at: typeof at }).toEqual({ path, at: 'object' });
    }
  });

  it('names every parameter of a path', () => {
    for (const { path, parameters } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const given = parameters.flatMap((each) =>
        'in' in each && each['in'] === 'path' ? [each['name']] : [],
      );
      expect({ path, given }).toEqual({ path, given: named });
    }
  });

  it('tells every way in which a call can be refused', () => {
    const statuses = new Set(Object.values(problems).map(([status]) => String(status)));
    for (const { path, responses } of operations.filter((each) => each.path !== '/health')) {
      const missing = [...statuses].filter((status) => responses[status] === undefined);
      expect({ path, missing }).toEqual({ path, missing: [] });
    }
  });

  it('has for each list that comes in pages how to ask for the next', () => {
    const paged = operations.filter(({ parameters }) =>
      parameters.some((each) => each['name'] === 'cursor' || each['name'] === 'after'),
    );
    expect(paged.map(({ path }) => path).toSorted((a, b) => a.localeCompare(b))).toEqual([
      '/cases',
      '/cases/{id}/feed',
      '/cases/{id}/timeline',
      '/feed',
      '/tasks',
    ]);
    for (const name of ['case-page', 'task-page', 'timeline-page']) {
      const properties = JSON.stringify(described.components.schemas[name]?.['properties']);
      expect(properties).toMatch(/"(cursor|next)"/);
    }
  });

  it('holds schemas that are valid', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [name, schema] of Object.entries(described.components.schemas)) {
      expect({ name, valid: ajv.validateSchema(schema) }).toEqual({ name, valid: true });
    }
  });
});
