import { z } from 'zod';
import { feedEventSchema } from '../model/feed.ts';
import { publishedSchemas } from '../model/json-schemas.ts';
import { sessionRequestSchema } from '../model/session.ts';
import { problemMediaType, problems } from './problem.ts';
import { mayBeAbsent, type Route } from './route.ts';

type Json = Readonly<Record<string, unknown>>;

/** Routes under a heading; `handedOn`: an agent may call them for a caller whose credential it has. */
export interface RouteGroup {
  readonly name: string;
  readonly description: string;
  readonly handedOn?: boolean;
  readonly routes: readonly Route[];
}

/** Bodies of requests and answers as components, those with a name of their own each once. */
class Bodies {
  readonly #registries = {
    output: z.registry<{ id: string }>(),
    input: z.registry<{ id: string }>(),
  };
  readonly #names = { output: new Map<z.ZodType, string>(), input: new Map<z.ZodType, string>() };

  constructor() {
    for (const [name, schema] of Object.entries(publishedSchemas)) {
      this.#add(schema, 'output', name);
      this.#add(schema, 'input', `${name}-input`);
    }
  }

  ref(schema: z.ZodType, io: 'input' | 'output', id: string): Json {
    return refTo(this.#names[io].get(schema) ?? this.#add(schema, io, id));
  }

  /** All that anything refers to. */
  schemas(used: string): Json {
    const all = { ...this.#written('output'), ...this.#written('input') };
    const needed = new Set<string>();
    const find = (text: string): void => {
      for (const [, name = ''] of text.matchAll(/#\/components\/schemas\/([\w-]+)/g)) {
        if (needed.has(name)) continue;
        needed.add(name);
        find(JSON.stringify(all[name] ?? {}));
      }
    };
    find(used);
    return Object.fromEntries(Object.entries(all).filter(([name]) => needed.has(name)));
  }

  #add(schema: z.ZodType, io: 'input' | 'output', id: string): string {
    this.#registries[io].add(schema, { id });
    this.#names[io].set(schema, id);
    return id;
  }

  #written(io: 'input' | 'output'): Record<string, Json> {
    const options = { io, uri, unrepresentable: 'any' } as const;
    const { schemas } = z.toJSONSchema(this.#registries[io], options);
    return Object.fromEntries(
      Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...rest }]) => [
        name,
        rest,
      ]),
    );
  }
}

const uri = (name: string): string => `#/components/schemas/${name}`;
const refTo = (name: string): Json => ({ $ref: uri(name) });

const jsonSchema = (schema: z.ZodType): Json => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
};

const json = (schema: Json): Json => ({ 'application/json': { schema } });
const bytes: Json = { 'application/octet-stream': {} };

function parameters(schema: z.ZodObject, place: 'path' | 'query'): Json[] {
  return Object.entries(schema.shape).map(([name, each]) => ({
    name,
    in: place,
    required: !mayBeAbsent(each),
    schema: each instanceof z.ZodType ? jsonSchema(each) : {},
  }));
}

/** `get /cases/{id}/timeline` → `getCasesIdTimeline`. */
const operationId = ({ method, path }: Route): string =>
  method +
  path
    .split(/[^A-Za-z]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

function operation(route: Route, { name, handedOn = false }: RouteGroup, bodies: Bodies): Json {
  const { takes, gives, body } = route;
  const id = operationId(route);
  const request = (): Json => json(bodies.ref(body, 'input', `${id}Request`));
  const content = takes === 'bytes' ? bytes : takes === 'json' ? request() : {};
  const answer =
    gives === 'nothing'
      ? { 204: { description: 'Done' } }
      : {
          200: {
            description: 'OK',
            content: contentOf(gives, bodies, id),
          },
        };
  return {
    operationId: id,
    tags: [name],
    summary: route.summary,
    parameters: [
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...(handedOn ? [{ $ref: '#/components/parameters/Caller' }] : []),
      ...(gives === 'bytes'
        ? ['ContentToken', 'Proof'].map((each) => ({ $ref: `#/components/parameters/${each}` }))
        : []),
      ...(gives === 'events' ? [{ $ref: '#/components/parameters/LastEventId' }] : []),
    ],
    ...(takes === 'nothing' ? {} : { requestBody: { required: true, content } }),
    responses: { ...answer, ...problemRefs },
  };
}

/** Of an event stream the schema is that of each event’s data, as OpenAPI has no word for the stream. */
function contentOf(gives: Exclude<Route['gives'], 'nothing'>, bodies: Bodies, id: string): Json {
  if (gives === 'bytes') return { '*/*': {} };
  if (gives === 'lines') return { 'application/jsonl': { schema: { type: 'string' } } };
  if (gives !== 'events') return json(bodies.ref(gives, 'output', `${id}Answer`));
  return { 'text/event-stream': { schema: bodies.ref(feedEventSchema, 'output', id) } };
}

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
});

/** Status → the titles of the codes that have it; other codes of a status are told apart by `code`. */
const titles = Map.groupBy(
  [
    ...Object.values(problems),
    [403, 'The Origin is not this hub’s'],
    [415, 'The media type is another one'],
    [421, 'The Host is not this hub’s'],
  ] satisfies (readonly [number, string])[],
  ([status]) => status,
);

const problemRefs: Json = Object.fromEntries(
  [...titles.keys()].map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
);

const problemHeaders: Readonly<Record<number, Json>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } },
  429: {
    'Retry-After': {
      description: 'Seconds; only where waiting helps',
      schema: { type: 'integer', minimum: 1 },
    },
  },
  503: { 'Retry-After': { description: 'Seconds', schema: { type: 'integer', minimum: 1 } } },
};

const problemResponses: Json = Object.fromEntries(
  [...titles].map(([status, each]) => [
    `Problem${status}`,
    {
      description: each.map(([, title]) => title).join('; '),
      ...(problemHeaders[status] === undefined ? {} : { headers: problemHeaders[status] }),
      content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/problem' } } },
    },
  ]),
);

/** Of RFC 9457; `code` is for programs. */
const problem: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What was wrong, where, and what to do' },
    code: { enum: Object.keys(problems) },
    requestId: { type: 'string', description: 'Also in the X-Request-Id header and the hub’s log' },
    retryable: { type: 'boolean', description: 'The same call may succeed later, unchanged' },
    details: { type: 'object' },
  },
};

const health: Json = {
  operationId: 'getHealth',
  tags: ['hub'],
  summary: 'Whether the hub is up; needs no key',
  security: [],
  responses: {
    200: {
      description: 'OK',
      content: json({ type: 'object', required: ['ok'], properties: { ok: { const: true } } }),
    },
    503: problemRefs[503],
  },
};

const metrics: Json = {
  operationId: 'getMetrics',
  tags: ['hub'],
  summary: 'The hub’s own figures in the text format of Prometheus; for the hub’s operators',
  responses: {
    200: { description: 'OK', content: { 'text/plain': { schema: { type: 'string' } } } },
    ...problemRefs,
  },
};

const sessions: Json = {
  post: {
    operationId: 'postSessions',
    tags: ['hub'],
    summary: 'Takes a one-time code for the page’s cookie; from the hub’s own page alone',
    security: [],
    requestBody: {
      required: true,
      content: json(jsonSchema(sessionRequestSchema)),
    },
    responses: { 204: { description: 'Done; the cookie is HttpOnly' }, ...problemRefs },
  },
  delete: {
    operationId: 'deleteSessions',
    tags: ['hub'],
    summary: 'Ends the session of the page’s cookie',
    security: [],
    responses: { 204: { description: 'Done' }, ...problemRefs },
  },
};

/** OpenAPI 3.1 description of the API. */
export function openApi(groups: readonly RouteGroup[], origin: string): Json {
  const bodies = new Bodies();
  const paths: Record<string, Record<string, unknown>> = {
    '/health': { get: health },
    '/metrics': { get: metrics },
    '/sessions': { ...sessions },
  };
  for (const group of groups) {
    for (const route of group.routes) {
      (paths[route.path] ??= {})[route.method] = operation(route, group, bodies);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Throughline hub',
      version: '1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Lists come in pages: ask again with the `cursor` (or, in a timeline, with `after` set to `next`) ' +
        'of the answer until there is none. What one may not see answers like what is missing. Errors are ' +
        'problem details (RFC 9457).',
    },
    servers: [{ url: origin }],
    tags: [
      { name: 'hub', description: 'The hub itself' },
      ...groups.map(({ name, description }) => ({ name, description })),
    ],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the hub (`tlk_…`), or a JWT of the issuer it was told of',
        },
      },
      parameters: {
        Caller: header(
          'Throughline-Caller',
          'The Authorization value of the caller that an agent process calls for',
        ),
        ContentToken: header('Throughline-Content-Token', 'A right to read this content'),
        Proof: header('DPoP', 'Proof of the key that the token is bound to (RFC 9449)'),
        LastEventId: header('Last-Event-ID', 'Goes on right after the event of this id'),
      },
      responses: problemResponses,
      schemas: { problem, ...bodies.schemas(JSON.stringify(paths)) },
    },
  };
}
