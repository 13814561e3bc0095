/*
 * Messages, tasks and push configs as A2A 0.3 writes them over HTTP+JSON (the JSON of its protobuf),
 * from and to the JSON of 1.0. What has another form than expected is left as it is, so that the
 * check of the parameters names it.
 */
type Json = Readonly<Record<string, unknown>>;
type Turn = (value: unknown) => unknown;

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Turns an object: each field by its name into another name and form; `undefined` leaves it out. */
function object(turns: Readonly<Record<string, readonly [name: string, turn?: Turn] | undefined>>) {
  const known = new Map(Object.entries(turns));
  return (value: unknown): unknown =>
    isJson(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([field, inner]) => {
            if (!known.has(field)) return [[field, inner]];
            const [name, turn] = known.get(field) ?? [];
            return name === undefined ? [] : [[name, turn === undefined ? inner : turn(inner)]];
          }),
        )
      : value;
}

const list =
  (turn: Turn): Turn =>
  (value) =>
    Array.isArray(value) ? value.map((each) => turn(each)) : value;

/** Without its name in the first 0.3: protobuf has had that since shortly after. */
const fileFrom = object({
  fileWithUri: ['url'],
  fileWithBytes: ['raw'],
  mimeType: ['mediaType'],
  name: ['filename'],
});
const fileTo = object({
  url: ['fileWithUri'],
  raw: ['fileWithBytes'],
  mediaType: ['mimeType'],
  filename: ['name'],
  metadata: undefined,
});

const partFrom: Turn = (part) => {
  if (!isJson(part)) return part;
  const { file, data, ...rest } = part;
  if (isJson(data) && 'data' in data) return { ...rest, data: data['data'] };
  if (!isJson(file)) return part;
  return { ...rest, ...Object(fileFrom(file)) };
};

const messageFrom = object({ content: ['parts', list(partFrom)] });

const pushFrom = object({
  authentication: [
    'authentication',
    object({ schemes: ['scheme', (value) => (Array.isArray(value) ? (value[0] ?? '') : value)] }),
  ],
});

const waitsNot: Turn = (blocking) => (typeof blocking === 'boolean' ? !blocking : blocking);
const configurationFrom = object({
  pushNotification: ['taskPushNotificationConfig', pushFrom],
  blocking: ['returnImmediately', waitsNot],
});

/** A request to send, from 0.3: there a configuration that does not say `blocking` does not wait. */
export const sendFromLegacy = object({
  message: ['message', messageFrom],
  configuration: [
    'configuration',
    (value) => configurationFrom(isJson(value) ? { blocking: false, ...value } : value),
  ],
});

export const pushFromLegacy = pushFrom;

const partTo: Turn = (part) => {
  if (!isJson(part)) return part;
  const { raw, url, data } = part;
  if (raw !== undefined || url !== undefined) return { file: fileTo(part) };
  if (data === undefined) return { text: part['text'] ?? '' };
  return { data: { data: isJson(data) ? data : { value: data } } };
};

const messageTo = object({ parts: ['content', list(partTo)], referenceTaskIds: undefined });
const artifactTo = object({ parts: ['parts', list(partTo)] });
const statusTo = object({
  state: ['state', (state) => (state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state)],
  message: ['message', messageTo],
});

const taskFieldsTo = object({
  status: ['status', statusTo],
  artifacts: ['artifacts', list(artifactTo)],
  history: ['history', list(messageTo)],
});

/** Tasks of 0.3 always have a status. */
export const taskToLegacy: Turn = (task) => taskFieldsTo({ status: {}, ...Object(task) });

const finalStates: ReadonlySet<unknown> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

/** A status update of 0.3 says itself whether it is the last. */
const statusUpdateTo: Turn = (update) => {
  const { status, ...rest } = Object(update);
  const final = finalStates.has(isJson(status) ? status['state'] : undefined);
  return { ...rest, status: statusTo(status), ...(final ? { final } : {}) };
};

/** What a send answers with, or one update of a stream. */
export const eventToLegacy = object({
  task: ['task', taskToLegacy],
  message: ['message', messageTo],
  statusUpdate: ['statusUpdate', statusUpdateTo],
  artifactUpdate: ['artifactUpdate', object({ artifact: ['artifact', artifactTo] })],
});

export const pushToLegacy: Turn = (config) => {
  const { taskId, tenant: _tenant, authentication, ...rest } = Object(config);
  const { scheme = '', credentials } = Object(authentication);
  return {
    name: `tasks/${taskId}/pushNotificationConfigs/${rest.id}`,
    pushNotificationConfig: {
      ...rest,
      ...(authentication === undefined
        ? {}
        : {
            authentication: {
              schemes: scheme === '' ? [] : [scheme],
              ...(credentials === undefined ? {} : { credentials }),
            },
          }),
    },
  };
};
