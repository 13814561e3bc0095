import {
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import type { Guard } from './guard.ts';
import type { StreamEvent } from './marks.ts';
import { historyQuery, listRequest, pageQuery, parseQuery } from './rest-query.ts';

interface RestCall {
  readonly guard: Guard;
  readonly context: ServerCallContext;
  readonly url: string;
  /** Tenant, task and config named in the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly tenant: string;
  /** Parsed JSON; an empty object where no body came. */
  readonly body: RestBody;
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
  readonly run: (call: RestCall) => Promise<Answer> | Answer;
}

export const ok = (json: unknown): Answer => ({ status: 200, json });
const taskId = ({ path }: RestCall): string => path['task'] ?? '';

const send = (call: RestCall): SendMessageRequest =>
  SendMessageRequest.fromJSON({ ...call.body, tenant: call.tenant });
const one = (call: RestCall) => ({ tenant: call.tenant, id: taskId(call) });
const config = (call: RestCall) => ({
  tenant: call.tenant,
  taskId: taskId(call),
  id: call.path['config'] ?? '',
});
const subscribe = (call: RestCall): Answer => ({
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

/** `abc:cancel` → `abc` and `cancel`, where the verb is one of ours. */
function splitVerb(last: string, verbs: readonly string[]): { id: string; verb?: string } {
  const at = last.lastIndexOf(':');
  const verb = last.slice(at + 1);
  return at > 0 && verbs.includes(verb) ? { id: last.slice(0, at), verb } : { id: last };
}

const verbs = restRoutes.flatMap(({ verb }) => verb ?? []);

export interface Found {
  readonly route: RestRoute;
  readonly path: Record<string, string>;
}

export type RestBody = Readonly<Record<string, unknown>>;

/** How a version of A2A writes what the routes take and give. */
export interface Dialect {
  readonly version: string;
  readonly contentType: string;
  readonly speaks: (version: string, pathname: string) => boolean;
  readonly find: (method: string, pathname: string) => Found | undefined;
  /** A body → that of 1.0. Throws `invalid`. */
  readonly request: (found: Found, body: RestBody) => RestBody;
  /** JSON of 1.0 → the answer. */
  readonly answer: (found: Found, json: unknown) => unknown;
  /** JSON of 1.0 → one update of a stream. */
  readonly event: (json: unknown) => unknown;
  readonly failure: (error: unknown) => { readonly status: number; readonly body: unknown };
}

/** Which route a path names, without a tenant or behind one. */
export function findRoute(method: string, pathname: string): Found | undefined {
  const segments = pathname.split('/').slice(1);
  return (
    matchRoute(restRoutes, method, segments) ??
    matchRoute(restRoutes, method, segments.slice(1), segments[0])
  );
}

/** The route of a table that these segments of a path name. */
export function matchRoute(
  routes: readonly RestRoute[],
  method: string,
  segments: readonly string[],
  tenant?: string,
): Found | undefined {
  for (const route of routes) {
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
