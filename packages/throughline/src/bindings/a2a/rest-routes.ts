import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { Guard } from './guard.ts';
import { historyQuery, listRequest, pageQuery, parseQuery } from './rest-query.ts';

interface RestCall {
  readonly url: string;
  /** Tenant, task and config named in the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly tenant: string;
  /** Parsed JSON; an empty object where no body came. */
  readonly body: RestBody;
}

export interface RestRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Segments after the optional tenant; `{name}` stands for an id. */
  readonly path: string;
  /** What follows the last colon of the last id. */
  readonly verb?: string;
  /** The method that it stands for. */
  readonly rpc: string;
  /** That method's parameters, as JSON-RPC has them. Throws `invalid`. */
  readonly params: (call: RestCall) => RestBody;
  /** Of an answer that holds something; default 200. */
  readonly status?: 201 | 204;
  /** What is answered, where it is not the method's own answer. */
  readonly answer?: (
    guard: Guard,
    params: RestBody,
    context: ServerCallContext,
  ) => Promise<unknown>;
}

const send = ({ body, tenant }: RestCall): RestBody => ({ ...body, tenant });
const one = ({ path, tenant }: RestCall): RestBody => ({ tenant, id: path['task'] });
const ofTask = ({ path, tenant }: RestCall): RestBody => ({ tenant, taskId: path['task'] });
const config = (call: RestCall): RestBody => ({ ...ofTask(call), id: call.path['config'] });

const task = '/tasks/{task}';
const configs = `${task}/pushNotificationConfigs`;

/** A2A 11.3: every route with the method that it stands for. */
export const restRoutes: readonly RestRoute[] = [
  { method: 'POST', path: '/message:send', rpc: 'SendMessage', params: send },
  { method: 'POST', path: '/message:stream', rpc: 'SendStreamingMessage', params: send },
  {
    method: 'GET',
    path: '/tasks',
    rpc: 'ListTasks',
    params: ({ url, tenant }) => listRequest(url, tenant),
  },
  {
    method: 'GET',
    path: task,
    rpc: 'GetTask',
    params: (call) => ({ ...one(call), ...parseQuery(call.url, historyQuery) }),
  },
  { method: 'POST', path: task, verb: 'cancel', rpc: 'CancelTask', params: one },
  // The standard's text says POST, its protobuf annotations GET.
  { method: 'GET', path: task, verb: 'subscribe', rpc: 'SubscribeToTask', params: one },
  { method: 'POST', path: task, verb: 'subscribe', rpc: 'SubscribeToTask', params: one },
  {
    method: 'POST',
    path: configs,
    rpc: 'CreateTaskPushNotificationConfig',
    params: ({ body: { task_id: _otherName, ...body }, ...call }) => ({
      ...body,
      ...ofTask({ ...call, body }),
    }),
    status: 201,
  },
  {
    method: 'GET',
    path: configs,
    rpc: 'ListTaskPushNotificationConfigs',
    params: (call) => ({ ...ofTask(call), ...parseQuery(call.url, pageQuery) }),
  },
  {
    method: 'GET',
    path: `${configs}/{config}`,
    rpc: 'GetTaskPushNotificationConfig',
    params: config,
  },
  {
    method: 'DELETE',
    path: `${configs}/{config}`,
    rpc: 'DeleteTaskPushNotificationConfig',
    params: config,
    status: 204,
  },
  {
    method: 'GET',
    path: '/extendedAgentCard',
    rpc: 'GetExtendedAgentCard',
    params: ({ tenant }) => ({ tenant }),
  },
];

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
