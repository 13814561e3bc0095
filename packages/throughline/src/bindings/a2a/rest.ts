import {
  A2A_CONTENT_TYPE,
  A2A_VERSION_HEADER,
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import { validateVersion, type ServerCallContext } from '@a2a-js/sdk/server';
import type { Context } from 'hono';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { legacyVersion } from './card.ts';
import { restFailure } from './errors.ts';
import type { Guard } from './guard.ts';
import {
  contextOf,
  echo,
  readBody,
  requireMediaType,
  streamed,
  updateJson,
  type A2aEnv,
} from './http-call.ts';
import { parseIJsonBytes } from './i-json.ts';
import type { Served } from './json-rpc.ts';
import type { StreamEvent } from './marks.ts';
import { checkParams } from './params.ts';
import { historyQuery, listRequest, pageQuery, parseQuery } from './rest-query.ts';

interface Call {
  readonly guard: Guard;
  readonly context: ServerCallContext;
  readonly url: string;
  /** Tenant, task and config named in the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly tenant: string;
  /** Parsed JSON; an empty object where no body came. */
  readonly body: Readonly<Record<string, unknown>>;
}

type Answer =
  | { readonly status: 200 | 201; readonly json: unknown }
  | { readonly status: 204 }
  | { readonly events: AsyncGenerator<StreamEvent, void, undefined> };

export interface RestRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Segments after the optional tenant; `{name}` stands for an id. */
  readonly path: string;
  /** What follows the last colon of the last id. */
  readonly verb?: string;
  /** Name of the method on JSON-RPC, whose parameters are checked alike. */
  readonly rpc: string;
  readonly run: (call: Call) => Promise<Answer> | Answer;
}

const ok = (json: unknown): Answer => ({ status: 200, json });
const taskId = ({ path }: Call): string => path['task'] ?? '';

const send = (call: Call): SendMessageRequest =>
  SendMessageRequest.fromJSON({ ...call.body, tenant: call.tenant });
const one = (call: Call) => ({ tenant: call.tenant, id: taskId(call) });
const config = (call: Call) => ({
  tenant: call.tenant,
  taskId: taskId(call),
  id: call.path['config'] ?? '',
});
const subscribe = (call: Call): Answer => ({
  events: call.guard.resubscribe(one(call), call.context),
});

const configs = '/tasks/{task}/pushNotificationConfigs';

/** A2A 11.3: every route with the method that it stands for. */
export const restRoutes: readonly RestRoute[] = [
  {
    method: 'POST',
    path: '/message:send',
    rpc: 'SendMessage',
    run: async (call) => {
      const answer = await call.guard.sendMessage(send(call), call.context);
      return ok(
        'status' in answer ? { task: Task.toJSON(answer) } : { message: Message.toJSON(answer) },
      );
    },
  },
  {
    method: 'POST',
    path: '/message:stream',
    rpc: 'SendStreamingMessage',
    run: (call) => ({ events: call.guard.sendMessageStream(send(call), call.context) }),
  },
  {
    method: 'GET',
    path: '/tasks',
    rpc: 'ListTasks',
    run: async ({ guard, context, url, tenant }) => {
      const request = listRequest(url, tenant);
      const page = await guard.listTasks(request, context);
      return ok(listJson(page, request.includeArtifacts === true));
    },
  },
  {
    method: 'GET',
    path: '/tasks/{task}',
    rpc: 'GetTask',
    run: async (call) => {
      const { historyLength } = parseQuery(call.url, historyQuery);
      const asked = historyLength === undefined ? {} : { historyLength };
      return ok(Task.toJSON(await call.guard.getTask({ ...one(call), ...asked }, call.context)));
    },
  },
  {
    method: 'POST',
    path: '/tasks/{task}',
    verb: 'cancel',
    rpc: 'CancelTask',
    run: async (call) => {
      const request = { ...one(call), metadata: undefined };
      return ok(Task.toJSON(await call.guard.cancelTask(request, call.context)));
    },
  },
  // The standard's text says POST, its protobuf annotations GET.
  {
    method: 'GET',
    path: '/tasks/{task}',
    verb: 'subscribe',
    rpc: 'SubscribeToTask',
    run: subscribe,
  },
  {
    method: 'POST',
    path: '/tasks/{task}',
    verb: 'subscribe',
    rpc: 'SubscribeToTask',
    run: subscribe,
  },
  {
    method: 'POST',
    path: configs,
    rpc: 'CreateTaskPushNotificationConfig',
    run: async (call) => {
      const named = { ...call.body, tenant: call.tenant, taskId: taskId(call) };
      const request = TaskPushNotificationConfig.fromJSON(named);
      const made = await call.guard.createTaskPushNotificationConfig(request, call.context);
      return { status: 201, json: TaskPushNotificationConfig.toJSON(made) };
    },
  },
  {
    method: 'GET',
    path: configs,
    rpc: 'ListTaskPushNotificationConfigs',
    run: async (call) => {
      const { pageSize = 0, pageToken = '' } = parseQuery(call.url, pageQuery);
      const request = { tenant: call.tenant, taskId: taskId(call), pageSize, pageToken };
      const page = await call.guard.listTaskPushNotificationConfigs(request, call.context);
      return ok(configListJson(page));
    },
  },
  {
    method: 'GET',
    path: `${configs}/{config}`,
    rpc: 'GetTaskPushNotificationConfig',
    run: async (call) => {
      const found = await call.guard.getTaskPushNotificationConfig(config(call), call.context);
      return ok(TaskPushNotificationConfig.toJSON(found));
    },
  },
  {
    method: 'DELETE',
    path: `${configs}/{config}`,
    rpc: 'DeleteTaskPushNotificationConfig',
    run: async (call) => {
      await call.guard.deleteTaskPushNotificationConfig(config(call), call.context);
      return { status: 204 };
    },
  },
  {
    method: 'GET',
    path: '/extendedAgentCard',
    rpc: 'GetExtendedAgentCard',
    run: async ({ guard, context, tenant }) =>
      ok(AgentCard.toJSON(await guard.getAuthenticatedExtendedAgentCard({ tenant }, context))),
  },
];

const object = z.record(z.string(), z.unknown());

/** The SDK leaves out what is empty, where the standard says that it is always there. */
function listJson(page: ListTasksResponse, includeArtifacts: boolean): unknown {
  const { tasks = [], ...others } = object.parse(ListTasksResponse.toJSON(page));
  const each = z.array(object).parse(tasks);
  return {
    nextPageToken: '',
    pageSize: 0,
    totalSize: 0,
    ...others,
    tasks: includeArtifacts ? each.map((task) => ({ artifacts: [], ...task })) : each,
  };
}

const configListJson = (page: ListTaskPushNotificationConfigsResponse): unknown => ({
  configs: [],
  ...object.parse(ListTaskPushNotificationConfigsResponse.toJSON(page)),
});

export const restFailed = (_c: Context, error: unknown): Response => {
  const { body, status } = restFailure(error);
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': A2A_CONTENT_TYPE,
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    },
  });
};

async function bodyOf(c: Context, maxBytes: number): Promise<Record<string, unknown>> {
  const bytes = await readBody(c, maxBytes);
  if (bytes.length === 0) return {};
  requireMediaType(c, ['application/json', A2A_CONTENT_TYPE]);
  try {
    return object.parse(parseIJsonBytes(bytes));
  } catch (error) {
    if (error instanceof ThroughlineError) throw error;
    throw new ThroughlineError('invalid', 'the body is not a JSON object', { cause: error });
  }
}

/** A tenant that is named twice must be named alike. */
function tenantOf(path: string | undefined, claims: readonly unknown[]): string {
  const said = [path, ...claims].filter((each) => each !== undefined && each !== '');
  const [tenant = ''] = said;
  if (typeof tenant === 'string' && said.every((each) => each === tenant)) return tenant;
  throw new ThroughlineError('invalid', 'tenant: path, query and body name different ones');
}

/** `abc:cancel` → `abc` and `cancel`, where the verb is one of ours. */
function splitVerb(last: string, verbs: readonly string[]): { id: string; verb?: string } {
  const at = last.lastIndexOf(':');
  const verb = last.slice(at + 1);
  return at > 0 && verbs.includes(verb) ? { id: last.slice(0, at), verb } : { id: last };
}

const verbs = restRoutes.flatMap(({ verb }) => verb ?? []);

interface Found {
  readonly route: RestRoute;
  readonly path: Record<string, string>;
}

/** Which route a path names, without a tenant or behind one. */
export function findRoute(method: string, pathname: string): Found | undefined {
  const segments = pathname.split('/').slice(1);
  return match(method, segments, undefined) ?? match(method, segments.slice(1), segments[0]);
}

function match(
  method: string,
  segments: readonly string[],
  tenant: string | undefined,
): Found | undefined {
  for (const route of restRoutes) {
    const wanted = route.path.split('/').slice(1);
    if (route.method !== method || wanted.length !== segments.length) continue;
    const path: Record<string, string> = tenant === undefined ? {} : { tenant: decode(tenant) };
    const fits = wanted.every((part, index) => {
      const segment = segments[index] ?? '';
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name === undefined) return segment === part;
      const isLast = index === wanted.length - 1 && name === 'task';
      const { id, verb } = isLast ? splitVerb(segment, verbs) : { id: segment };
      path[name] = decode(id);
      return id !== '' && (!isLast || verb === route.verb);
    });
    if (fits) return { route, path };
  }
  return undefined;
}

/** As sent where it can't be decoded: no id has a form like that. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** HTTP+JSON of A2A 1.0 (A2A 11), for whatever path is left. */
export function rest({ guard, card, heartbeatMs, maxBytes }: Served) {
  const answer = async (c: Context<A2aEnv>, { route, path }: Found): Promise<Response> => {
    const version = c.req.header(A2A_VERSION_HEADER)?.trim() || legacyVersion;
    validateVersion(version, card, 'HTTP+JSON');
    const context = contextOf(c, version);
    const body = await bodyOf(c, maxBytes);
    const claims = [new URL(c.req.url).searchParams.get('tenant') ?? undefined, body['tenant']];
    const tenant = tenantOf(path['tenant'], claims);
    if (route.method === 'POST') checkParams(route.rpc, body);
    const result = await route.run({ guard, context, url: c.req.url, path, tenant, body });
    if ('events' in result) {
      return streamed(c, context, result.events, {
        heartbeatMs,
        show: (event) => ({ id: event.mark?.seq, data: updateJson(event, context) }),
        failure: (error) => restFailure(error).body,
      });
    }
    const headers = echo(context);
    if (result.status === 204) return c.body(null, 204, headers);
    const type = { 'content-type': A2A_CONTENT_TYPE };
    return c.body(JSON.stringify(result.json), result.status, { ...headers, ...type });
  };

  return async (c: Context<A2aEnv>): Promise<Response> => {
    try {
      const found = findRoute(c.req.method, new URL(c.req.url).pathname);
      if (found === undefined) throw new TaskNotFoundError('there is nothing at this path');
      return await answer(c, found);
    } catch (error) {
      return restFailed(c, error);
    }
  };
}
