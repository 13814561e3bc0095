import { z } from 'zod';
import { problemMediaType } from './problem.ts';
import { mayBeAbsent, type Route } from './route.ts';

type Json = Readonly<Record<string, unknown>>;

/** JSON Schema of a zod schema by the same function that makes the published ones. */
const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
};

const json = (schema: Json): Json => ({ 'application/json': { schema } });
const bytes: Json = { 'application/octet-stream': {} };

function parameters(schema: z.ZodObject, place: 'path' | 'query'): Json[] {
  return Object.entries(schema.shape).map(([name, each]) => ({
    name,
    in: place,
    required: !mayBeAbsent(each),
    schema: each instanceof z.ZodType ? jsonSchema(each, 'input') : {},
  }));
}

function operation(route: Route): Json {
  const { takes, gives, body } = route;
  const content = takes === 'bytes' ? bytes : json(jsonSchema(body, 'input'));
  const answer =
    gives === 'nothing'
      ? { 204: { description: 'Done' } }
      : {
          200: {
            description: 'OK',
            content: gives === 'bytes' ? { '*/*': {} } : json(jsonSchema(gives, 'output')),
          },
        };
  return {
    summary: route.summary,
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query')],
    ...(takes === 'nothing' ? {} : { requestBody: { required: true, content } }),
    responses: { ...answer, default: { $ref: '#/components/responses/Problem' } },
  };
}

const problem: Json = {
  description: 'RFC 9457 problem details; `code` is for programs',
  content: {
    [problemMediaType]: {
      schema: {
        type: 'object',
        required: ['type', 'title', 'status', 'detail', 'code'],
        properties: {
          type: { type: 'string', format: 'uri' },
          title: { type: 'string' },
          status: { type: 'integer' },
          detail: { type: 'string' },
          code: { type: 'string' },
          retryable: { type: 'boolean' },
          details: { type: 'object' },
        },
      },
    },
  },
};

/** OpenAPI 3.1 description of a table of routes. */
export function openApi(routes: readonly Route[], origin: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Throughline hub',
      version: '1',
      description:
        'An agent process calls with its own key in Authorization and its caller’s credential in Throughline-Caller.',
    },
    servers: [{ url: origin }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      responses: { Problem: problem },
    },
  };
}
