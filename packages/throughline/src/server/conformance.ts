import type { AgentPorts } from '../agent/ports.ts';
import { ThroughlineError } from '../errors.ts';
import type { Principal } from '../model/principal.ts';
import type { Terms } from '../model/terms.ts';
import type { ServedHub } from './ports.ts';
import type { Route } from './route.ts';
import { hubRoutes } from './routes.ts';

/** Parts of a request that fit its route. */
export interface Sample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: Readonly<Record<string, unknown>>;
  readonly bytes?: Uint8Array;
}

/** An id of ours that names nothing. */
export const nothing = (prefix: string): string => `${prefix}_${'0'.repeat(26)}`;

const at = '2030-01-01T00:00:00Z';
const digest = `sha-256:${'0'.repeat(64)}`;

/** Requests by `agent`, one a route, each of which the route’s schemas let through. */
export function samples(agent: string): Readonly<Record<string, Sample>> {
  const record = {
    id: 'task-1',
    contextId: nothing('ctx'),
    agent,
    version: 0,
    state: 'in-progress',
    statusAt: at,
    body: {},
  };
  const handover = {
    task: nothing('tsk'),
    dialog: nothing('dlg'),
    agent,
    withheld: ['date of birth'],
    tokenizer: 'o200k_base',
    sent: 1,
    fullHistory: 2,
  };
  const id = { params: { id: 'task-1' } };
  const pushed = { params: { id: 'task-1', config: 'push-1' } };
  const context = { params: { id: nothing('ctx') } };
  return {
    'post /authenticate': {},
    'post /admissions': {
      json: { agent, messageId: 'm-1', referenceTaskIds: [], payload: digest },
    },
    'post /replies': {
      json: {
        agent,
        messageId: 'm-1',
        contextId: nothing('ctx'),
        reply: { text: 'hello' },
        observations: [],
      },
    },
    'get /tasks/{id}': id,
    'put /tasks/{id}': { ...id, json: { record, observations: [] } },
    'put /tasks/{id}/push-configs/{config}': {
      ...pushed,
      json: { url: 'https://a.example/', protocolVersion: '1.0' },
    },
    'get /tasks/{id}/push-configs': id,
    'delete /tasks/{id}/push-configs/{config}': pushed,
    'post /tasks/{id}/push-configs/{config}/settlement': { ...pushed, json: { owner: 'priya' } },
    'put /workers/{worker}': { params: { worker: 'w-1' }, json: {} },
    'delete /workers/{worker}': { params: { worker: 'w-1' } },
    'post /workers/{worker}/takings': { params: { worker: 'w-1' }, json: { taking: 't-1' } },
    'post /push-deliveries': {},
    'get /tasks': { query: { pageSize: '10', unfinished: 'true' } },
    'post /observations': { json: { observations: [] } },
    'post /outputs': {
      query: { taskId: 'task-1', name: 'rows', mediaType: 'text/plain' },
      bytes: new Uint8Array([1]),
    },
    'post /participants': { json: { kind: 'agent', url: 'http://127.0.0.1:1/' } },
    'post /assertions': {
      json: { drafts: [{ about: nothing('act'), statement: { says: 'activity.closed' } }] },
    },
    'get /locations/{taskId}': { params: { taskId: 'task-1' } },
    'post /content': {
      query: { activity: nothing('act'), resource: nothing('res'), mediaType: 'text/plain' },
      bytes: new Uint8Array([1]),
    },
    'get /content/{id}': { params: { id: nothing('res') } },
    'post /call-tokens': { json: { audience: agent, seconds: 60 } },
    'post /content-tokens': {
      json: { uris: [`http://127.0.0.1/content/${nothing('res')}`], audience: 'x', seconds: 60 },
    },
    'post /content-tokens/renew': { json: { token: 'a.b.c' } },
    'post /content-tokens/narrow': {
      json: {
        token: 'no.to.ken',
        uris: [`http://127.0.0.1/content/${nothing('res')}`],
        seconds: 60,
        thumbprint: 'x'.repeat(43),
      },
    },
    'post /content-tokens/revoke': { json: { case: nothing('act') } },
    'post /content-cuts': {
      json: {
        uri: `http://127.0.0.1/content/${nothing('res')}`,
        selector: { conformsTo: 'http://tools.ietf.org/rfc/rfc9110', value: 'bytes=0-9' },
        resource: nothing('res'),
      },
    },
    'get /runs/{id}': { params: { id: nothing('tsk') } },
    'put /runs/{id}': {
      params: { id: nothing('tsk') },
      json: { activity: nothing('act'), done: false, state: {}, expected: 0 },
    },
    'get /runs': { query: { open: 'true' } },
    'get /left-runs': {},
    'post /handovers': { json: { handover, texts: { sent: 'a', fullHistory: 'b' } } },
    'get /cases': { query: { pageSize: '10' } },
    'get /cases/{id}': context,
    'get /cases/{id}/timeline': { ...context, query: { after: '0', limit: '10' } },
    'get /cases/{id}/handovers/{taskId}/texts': {
      params: { id: nothing('ctx'), taskId: nothing('tsk') },
    },
    'get /feed': { query: { after: '0', follow: 'false' } },
    'get /cases/{id}/feed': { ...context, query: { follow: 'false' } },
    'get /export': {},
    'get /cases/{id}/export': context,
    'get /terms': {},
    'get /quotas': { query: { principal: 'priya' } },
    'put /quotas': { json: { tenant: { contexts: 5 }, principal: {} } },
    'post /cases/{id}/close': { ...context, json: {} },
    'post /cases/{id}/reopen': { ...context, json: {} },
    'post /cases/{id}/labels': { ...context, json: { label: { name: 'ticket', value: '1' } } },
    'post /cases/{id}/merge': { ...context, json: { into: nothing('ctx') } },
    'post /cases/{id}/split': { ...context, json: { objective: 'the rest' } },
    'post /cases/{id}/corrections': {
      ...context,
      json: {
        corrections: [{ about: nothing('tsk'), statement: { says: 'task.unresolved' } }],
      },
    },
    'post /cases/{id}/undo': { ...context, json: { assertion: nothing('asr') } },
    'delete /cases/{id}': context,
    'get /explain': { query: { a: nothing('tsk'), b: nothing('act') } },
    'post /contexts/{id}/grants': { ...context, json: { grantee: 'x', operations: ['get'] } },
    'get /contexts/{id}/grants': context,
    'delete /grants/{id}': { params: { id: nothing('grt') } },
    'post /keys': { json: { principal: { tenant: 'acme', id: 'x', role: 'caller' } } },
    'get /keys': {},
    'post /sessions/codes': {},
    'delete /keys/{id}': { params: { id: nothing('key') } },
  };
}

/** Sends text as the JSON body of a sample. */
export async function sendText(
  origin: string,
  route: Pick<Route, 'method' | 'path'>,
  { params = {} }: Sample,
  text: string,
): Promise<Response> {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
  return fetch(origin + path, {
    method: route.method.toUpperCase(),
    headers: { Authorization: 'Bearer agent', 'Content-Type': 'application/json' },
    body: text,
  });
}

/** Name of a route in the table of samples. */
export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  `${method} ${path}`;

/** The same for all, so that equal answers are equal to the byte. */
const requestId = '00000000-0000-4000-8000-000000000000';

/** Sends a sample, or a changed one, to a hub; `undefined` sends no key. */
export async function send(
  origin: string,
  route: Pick<Route, 'method' | 'path'>,
  { params = {}, query = {}, json, bytes }: Sample,
  { key, headers = {} }: { key?: string | undefined; headers?: Record<string, string> } = {},
): Promise<Response> {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const url = new URL(origin + path);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const body = json === undefined ? bytes && new Uint8Array(bytes) : JSON.stringify(json);
  const mediaType = json === undefined ? 'application/octet-stream' : 'application/json';
  return fetch(url, {
    method: route.method.toUpperCase(),
    headers: {
      'X-Request-Id': requestId,
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': mediaType }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
}

/** Every route with its name, for tests that go over all of them. */
export const named: readonly { readonly name: string; readonly route: Route }[] = hubRoutes.map(
  (each) => ({ name: nameOf(each), route: each }),
);

export const agent: Principal = { tenant: 'acme', id: 'reader', role: 'agent' };

/** Who the stub knows, by Authorization header. */
export const keys: Readonly<Record<string, Principal>> = {
  'Bearer agent': agent,
  'Bearer priya': { tenant: 'acme', id: 'priya', role: 'caller' },
  'Bearer other': { tenant: 'other', id: 'priya', role: 'caller' },
};

const page = { mediaType: 'text/html', bytes: new TextEncoder().encode('<script>') };

/** A hub that notes what reached it, knows some keys and one page, and has nothing else. */
export class StubHub implements ServedHub {
  readonly reached: string[] = [];
  /** First argument of the latest call: who asks. */
  asking: unknown;
  answer: () => Promise<never> = missing;

  reset(): void {
    this.reached.length = 0;
    this.answer = missing;
  }

  readonly #reach =
    (method: string) =>
    (asking?: unknown): Promise<never> => {
      this.reached.push(method);
      this.asking = asking;
      return this.answer();
    };

  authenticate(credential: string | undefined): Promise<Principal> {
    const found = keys[credential ?? ''];
    if (found !== undefined) return Promise.resolve(found);
    return Promise.reject(new ThroughlineError('unauthenticated', 'no valid key'));
  }

  pageSession(secret: string): Promise<Principal | undefined> {
    return Promise.resolve(secret === 'session' ? keys['Bearer priya'] : undefined);
  }

  get terms(): Terms {
    this.reached.push('terms');
    return { contextPolicy: 'refuse' };
  }

  health(): Promise<{ ok: true; seq: number }> {
    return Promise.resolve({ ok: true, seq: 7 });
  }

  agent(): AgentPorts {
    return {
      getContent: this.#reach('read'),
      renewToken: this.#reach('renew'),
      putOutput: this.#reach('putOutput'),
    };
  }

  master(): ReturnType<ServedHub['master']> {
    return {
      newId: () => '',
      participant: this.#reach('participant'),
      callToken: this.#reach('callToken'),
      assert: this.#reach('assert'),
      locate: this.#reach('locate'),
      putContent: this.#reach('putContent'),
      getContent: () => {
        this.reached.push('getContent');
        return Promise.resolve(page);
      },
      readToken: this.#reach('readToken'),
      saveRun: this.#reach('saveRun'),
      loadRun: this.#reach('loadRun'),
      openRuns: this.#reach('openRuns'),
      leftRuns: this.#reach('leftRuns'),
      saveHandover: this.#reach('saveHandover'),
    };
  }

  readonly feed = { open: this.#reach('feed') };
  readonly archive = {
    exporting: { case: this.#reach('export'), tenant: this.#reach('exportAll') },
  };
  readonly content = {
    get: () => {
      this.reached.push('getContent');
      return Promise.resolve({ ...page, digest: `sha-256:${'0'.repeat(64)}` });
    },
    cut: this.#reach('cut'),
    renewToken: this.#reach('renewToken'),
    narrowToken: this.#reach('narrowToken'),
    revokeTokens: this.#reach('revokeTokens'),
  };
  readonly admit = this.#reach('admit');
  readonly saveReply = this.#reach('saveReply');
  readonly loadTask = this.#reach('loadTask');
  readonly saveTask = this.#reach('saveTask');
  readonly workers = {
    beat: this.#reach('workers.beat'),
    leave: this.#reach('workers.leave'),
    takeUp: this.#reach('workers.takeUp'),
  };
  readonly listTasks = this.#reach('listTasks');
  readonly observe = this.#reach('observe');
  readonly savePushConfig = this.#reach('savePushConfig');
  readonly loadPushConfigs = this.#reach('loadPushConfigs');
  readonly deletePushConfig = this.#reach('deletePushConfig');
  readonly settlePushConfig = this.#reach('settlePushConfig');
  readonly cases = this.#reach('cases');
  readonly caseView = this.#reach('caseView');
  readonly closeCase = this.#reach('closeCase');
  readonly reopenCase = this.#reach('reopenCase');
  readonly labelCase = this.#reach('labelCase');
  readonly mergeCase = this.#reach('mergeCase');
  readonly splitCase = this.#reach('splitCase');
  readonly correctCase = this.#reach('correctCase');
  readonly undoInCase = this.#reach('undoInCase');
  readonly eraseCase = this.#reach('eraseCase');
  readonly pageCode = this.#reach('pageCode');
  readonly openPageSession = this.#reach('openPageSession');
  readonly endPageSession = this.#reach('endPageSession');
  readonly quotaReport = this.#reach('quotaReport');
  readonly setQuotas = this.#reach('setQuotas');
  readonly timeline = this.#reach('timeline');
  readonly explain = this.#reach('explain');
  readonly handoverTexts = this.#reach('handoverTexts');
  readonly grant = this.#reach('grant');
  readonly grants = this.#reach('grants');
  readonly createKey = this.#reach('createKey');
  readonly keys = this.#reach('keys');
  readonly revokeGrant = this.#reach('revokeGrant');
  readonly revokeKey = this.#reach('revokeKey');
}

const missing = (): Promise<never> =>
  Promise.reject(new ThroughlineError('not-found', 'there is none'));
