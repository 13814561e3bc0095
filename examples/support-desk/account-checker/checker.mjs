// An account checker: a plain A2A 1.0 agent (JSON-RPC) on bare node:http, no packages.
// Twin of checker.py. Prints {"url": …} once it listens.
//
//     node checker.mjs [--port N] [--host H] [--delay-ms N]
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { check } from './check.mjs';

const limits = { body: 1_048_576, items: 1000, text: 10_000, id: 128, tasks: 1000 };
const terminal = new Set(
  ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'].map((s) => `TASK_STATE_${s}`),
);
const states = new Set(
  ['UNSPECIFIED', 'SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED']
    .map((state) => `TASK_STATE_${state}`)
    .concat([...terminal]),
);
const withoutSupport = {
  SendStreamingMessage: -32004,
  SubscribeToTask: -32004,
  GetExtendedAgentCard: -32004,
  CreateTaskPushNotificationConfig: -32003,
  GetTaskPushNotificationConfig: -32003,
  ListTaskPushNotificationConfigs: -32003,
  DeleteTaskPushNotificationConfig: -32003,
};
const reasons = {
  [-32001]: 'TASK_NOT_FOUND',
  [-32002]: 'TASK_NOT_CANCELABLE',
  [-32003]: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  [-32004]: 'UNSUPPORTED_OPERATION',
  [-32009]: 'VERSION_NOT_SUPPORTED',
};

class RpcError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}
const invalid = (message) => new RpcError(-32602, message);

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value, max = limits.text) => typeof value === 'string' && value.length <= max;

const optionalId = (value, name) => {
  if (value === undefined || value === null || value === '') return undefined;
  if (!isText(value, limits.id))
    throw invalid(`${name} must be a string of at most ${limits.id} characters`);
  return value;
};

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};

const contexts = new Set();
const tasks = new Map();
const byMessage = new Map();
let order = 0;
const delayMs = Number(option('delay-ms', process.env.CHECKER_DELAY_MS ?? '0'));

const setStatus = (task, state, text) => {
  order += 1;
  task.order = order;
  task.wire.status = { state, timestamp: new Date().toISOString() };
  if (text !== undefined) {
    task.wire.status.message = {
      messageId: randomUUID(),
      contextId: task.wire.contextId,
      taskId: task.wire.id,
      role: 'ROLE_AGENT',
      parts: [{ text, mediaType: 'text/plain' }],
    };
  }
};

/** Checks a list of records; throws the reason why the data can't be worked on. */
const records = (value, name, fields, optional = []) => {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be an array`);
  if (value.length > limits.items)
    throw new TypeError(`${name} holds more than ${limits.items} items`);
  return value.map((item, index) => {
    if (!isObject(item)) throw new TypeError(`${name}[${index}] must be an object`);
    const wanted = [...fields, ...optional.filter((field) => field in item)];
    for (const field of wanted) {
      if (!isText(item[field])) throw new TypeError(`${name}[${index}].${field} must be a string`);
    }
    return Object.fromEntries(wanted.map((field) => [field, item[field]]));
  });
};

const transactionFields = [
  'transaction_id',
  'card',
  'amount',
  'category',
  'merchant',
  'date',
  'status',
  'rewards_earned',
];

/** The transactions, terms and cards of a message's data parts. */
const readWork = (parts) => {
  const data = parts.map((part) => part.data).filter(isObject);
  const pick = (name) => data.find((one) => name in one)?.[name];
  if (pick('transactions') === undefined || pick('terms') === undefined) {
    throw new TypeError('Send a data part with transactions and a data part with terms');
  }
  return {
    transactions: records(pick('transactions'), 'transactions', transactionFields),
    terms: records(pick('terms'), 'terms', ['documentId', 'quote'], ['card']),
    cards: records(pick('cards') ?? [], 'cards', ['card', 'opened']),
  };
};

const finish = (task, work) => {
  if (terminal.has(task.wire.status.state)) return;
  try {
    const data = check(work.transactions, work.terms, work.cards);
    task.wire.artifacts = [
      {
        artifactId: randomUUID(),
        name: 'recomputed rewards',
        parts: [{ data, mediaType: 'application/json' }],
      },
    ];
    setStatus(task, 'TASK_STATE_COMPLETED');
  } catch {
    setStatus(task, 'TASK_STATE_FAILED', 'The check failed inside this agent');
  }
};

const contextFor = (message) => {
  const contextId = optionalId(message.contextId, 'contextId');
  const taskId = optionalId(message.taskId, 'taskId');
  if (taskId !== undefined) {
    const task = tasks.get(taskId);
    if (task === undefined) throw new RpcError(-32001, 'Task not found');
    if (contextId !== undefined && contextId !== task.wire.contextId) {
      throw invalid('contextId is not the one of this task');
    }
    throw new RpcError(
      -32004,
      'This agent takes one message per task; send a new one in the same context',
    );
  }
  if (contextId === undefined) return randomUUID();
  if (!contexts.has(contextId))
    throw invalid('contextId is not known here; leave it out to get one');
  return contextId;
};

const readMessage = (params) => {
  const message = params.message;
  if (!isObject(message)) throw invalid('message must be an object');
  if (!isText(message.messageId, limits.id) || message.messageId === '') {
    throw invalid(`messageId must be a string of 1 to ${limits.id} characters`);
  }
  if (message.role !== 'ROLE_USER') throw invalid('role must be ROLE_USER');
  if (
    !Array.isArray(message.parts) ||
    message.parts.length === 0 ||
    !message.parts.every(isObject)
  ) {
    throw invalid('parts must be a non-empty array of objects');
  }
  const configuration = params.configuration ?? {};
  if (!isObject(configuration)) throw invalid('configuration must be an object');
  return { message, immediate: configuration.returnImmediately === true };
};

const start = (message) => {
  const contextId = contextFor(message);
  const id = randomUUID();
  const history = [{ ...message, contextId, taskId: id }];
  const task = {
    wire: { id, contextId, artifacts: [], history },
    order: 0,
    done: Promise.resolve(),
  };
  try {
    const work = readWork(message.parts);
    setStatus(task, 'TASK_STATE_WORKING');
    task.done = new Promise((resolve) => {
      task.settle = resolve;
      setTimeout(() => {
        finish(task, work);
        resolve();
      }, delayMs);
    });
  } catch (error) {
    setStatus(task, 'TASK_STATE_REJECTED', error.message);
  }
  contexts.add(contextId);
  tasks.set(id, task);
  byMessage.set(message.messageId, task);
  if (tasks.size > limits.tasks) {
    const [oldest] = tasks.values();
    tasks.delete(oldest.wire.id);
    byMessage.delete(oldest.wire.history[0].messageId);
    if (![...tasks.values()].some((one) => one.wire.contextId === oldest.wire.contextId)) {
      contexts.delete(oldest.wire.contextId);
    }
  }
  return task;
};

const shown = (task, params, withArtifacts) => {
  const length = params.historyLength;
  if (length !== undefined && length !== null && (!Number.isInteger(length) || length < 0)) {
    throw invalid('historyLength must be a whole number');
  }
  const { history, artifacts, ...rest } = task.wire;
  return {
    ...rest,
    ...(withArtifacts && artifacts.length > 0 ? { artifacts } : {}),
    ...(length === 0 ? {} : { history: length > 0 ? history.slice(-length) : history }),
  };
};

const taskOf = (params) => {
  const id = optionalId(params.id, 'id');
  const task = id === undefined ? undefined : tasks.get(id);
  if (task === undefined) throw new RpcError(-32001, 'Task not found');
  return task;
};

const listed = (params) => {
  const size = params.pageSize ?? 50;
  if (!Number.isInteger(size) || size < 1 || size > 100) throw invalid('pageSize must be 1 to 100');
  const status = params.status ?? '';
  if (status !== '' && !states.has(status)) throw invalid('status is no task state');
  const after = params.statusTimestampAfter ?? '';
  if (after !== '' && Number.isNaN(Date.parse(after)))
    throw invalid('statusTimestampAfter is no time');
  const contextId = optionalId(params.contextId, 'contextId');
  const found = [...tasks.values()]
    .filter((task) => contextId === undefined || task.wire.contextId === contextId)
    .filter((task) => ['', 'TASK_STATE_UNSPECIFIED', task.wire.status.state].includes(status))
    .filter((task) => after === '' || Date.parse(task.wire.status.timestamp) >= Date.parse(after))
    .toSorted((a, b) => b.order - a.order);
  const token = optionalId(params.pageToken, 'pageToken');
  const from = token === undefined ? 0 : found.findIndex((task) => task.wire.id === token) + 1;
  if (token !== undefined && from === 0) throw invalid('pageToken is not known here');
  const page = found.slice(from, from + size);
  return {
    tasks: page.map((task) => shown(task, params, params.includeArtifacts === true)),
    nextPageToken: from + size < found.length ? page.at(-1).wire.id : '',
    pageSize: size,
    totalSize: found.length,
  };
};

const methods = {
  async SendMessage(params) {
    const { message, immediate } = readMessage(params);
    const task = byMessage.get(message.messageId) ?? start(message);
    if (!immediate) await task.done;
    return { task: shown(task, params.configuration ?? {}, true) };
  },
  GetTask: (params) => shown(taskOf(params), params, true),
  ListTasks: listed,
  CancelTask(params) {
    const task = taskOf(params);
    if (terminal.has(task.wire.status.state)) throw new RpcError(-32002, 'The task has ended');
    setStatus(task, 'TASK_STATE_CANCELED');
    task.settle?.();
    return shown(task, params, true);
  },
};

const call = async (request, version) => {
  if (!isObject(request) || request.jsonrpc !== '2.0' || typeof request.method !== 'string') {
    throw new RpcError(-32600, 'Not a JSON-RPC 2.0 request');
  }
  if (
    !('id' in request) ||
    !(request.id === null || ['string', 'number'].includes(typeof request.id))
  ) {
    throw new RpcError(-32600, 'id must be a string, a number or null');
  }
  const code = Object.hasOwn(withoutSupport, request.method)
    ? withoutSupport[request.method]
    : undefined;
  if (code !== undefined) throw new RpcError(code, `${request.method} is not supported`);
  if (!Object.hasOwn(methods, request.method)) throw new RpcError(-32601, 'Method not found');
  if (version !== '1.0') throw new RpcError(-32009, 'This agent speaks A2A 1.0 only');
  const params = request.params ?? {};
  if (!isObject(params)) throw invalid('params must be an object');
  return methods[request.method](params);
};

const card = (url) => ({
  name: 'Account checker',
  description: 'Recomputes card rewards for transactions against quoted card terms.',
  version: '1.0.0',
  supportedInterfaces: [{ url: `${url}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
  defaultInputModes: ['application/json', 'text/plain'],
  defaultOutputModes: ['application/json'],
  skills: [
    {
      id: 'recompute-rewards',
      name: 'Recompute rewards',
      description:
        'Takes a data part with transactions (and cards with the day they were opened) and a data part with terms ({documentId, quote}); returns the transactions credited wrongly, each with its rule.',
      tags: ['rewards', 'cash back', 'audit'],
    },
  ],
});

const send = (response, status, body) => {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
};

const failure = (id, error) => {
  const known = error instanceof RpcError ? error : new RpcError(-32603, 'Internal error');
  const reason = reasons[known.code];
  const data = [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' },
  ];
  const body = { code: known.code, message: known.message, ...(reason ? { data } : {}) };
  return { jsonrpc: '2.0', id, error: body };
};

const readBody = async (request) => {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > limits.body) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const parse = (body) => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new RpcError(-32700, 'Not JSON');
  }
};

const handle = async (request, response, url) => {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (path === '/.well-known/agent-card.json' && request.method === 'GET') {
    return send(response, 200, card(url));
  }
  if (path !== '/') return send(response, 404, { error: 'Not found' });
  if (request.method !== 'POST') return send(response, 405, { error: 'Use POST' });
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    return send(response, 415, { error: 'Use application/json' });
  }
  const body = await readBody(request);
  if (body === undefined) {
    response.setHeader('connection', 'close');
    return send(response, 413, failure(null, new RpcError(-32600, 'Body over the limit of 1 MiB')));
  }
  let id = null;
  try {
    const parsed = parse(body);
    if (isObject(parsed) && ['string', 'number'].includes(typeof parsed.id)) id = parsed.id;
    const result = await call(parsed, request.headers['a2a-version']);
    return send(response, 200, { jsonrpc: '2.0', id, result });
  } catch (error) {
    return send(response, 200, failure(id, error));
  }
};

const host = option('host', '127.0.0.1');
const server = createServer((request, response) => {
  const { port } = server.address();
  handle(request, response, `http://${host}:${port}`).catch(() => response.destroy());
});
server.listen(Number(option('port', '0')), host, () => {
  process.stdout.write(`${JSON.stringify({ url: `http://${host}:${server.address().port}` })}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
