import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { limits } from '../../model/limits.ts';

/*
 * The parameters of each method as they may come in, types only: the SDK turns whatever it finds
 * into something (123 into "123", a string where a list belongs into an empty list), and what was
 * meant would be lost. Values and rights are checked further in. Unknown fields are let through.
 */
const text = z.string().nullish();
const texts = z.array(z.string()).max(limits.parts).nullish();
const count = z.int().min(0).max(2_147_483_647).nullish();
const metadata = z.record(z.string(), z.unknown()).nullish();

/** Fields by the names that protobuf has for them: `context_id` is `contextId`. */
export const protobufNames = (fields: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    fields.map((name) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name]),
  );

const object = z.record(z.string(), z.unknown());

/**
 * An object with these fields and any others. Clients that write a field as protobuf calls it are
 * read like those that write it as A2A does (A2A 5.5), and are held to the same; not both at once,
 * since one of them would be dropped in silence.
 */
const fieldsOf = <S extends z.ZodRawShape>(shape: S) => {
  const names = protobufNames(Object.keys(shape));
  return z.preprocess((value, context) => {
    const given = object.safeParse(value);
    if (!given.success) return value;
    const found = new Map<string, unknown>();
    for (const [key, inner] of Object.entries(given.data)) {
      const name = names.get(key) ?? key;
      if (found.has(name)) {
        context.addIssue({ code: 'custom', path: [key], message: `is there as ${name}, too` });
      }
      found.set(name, inner);
    }
    return Object.fromEntries(found);
  }, z.looseObject(shape));
};

type Params = Readonly<Record<string, unknown>>;
type Methods = ReadonlyMap<string, z.ZodType<Params>>;

const contents = ['text', 'raw', 'url', 'data'] as const;
const part = fieldsOf({
  text,
  raw: z.base64().nullish(),
  url: text,
  data: z.unknown().optional(),
  mediaType: text,
  filename: text,
  metadata,
}).refine(
  (value) => contents.filter((key) => (value[key] ?? undefined) !== undefined).length === 1,
  {
    message: `must hold one of ${contents.join(', ')}`,
  },
);

const message = fieldsOf({
  messageId: text,
  contextId: text,
  taskId: text,
  role: z.union([z.string(), z.int()]),
  parts: z.array(part).max(limits.parts),
  metadata,
  extensions: texts,
  referenceTaskIds: texts,
});

const pushConfig = fieldsOf({
  tenant: text,
  id: text,
  taskId: text,
  url: text,
  token: text,
  authentication: fieldsOf({ scheme: text, credentials: text }).nullish(),
});

const send = fieldsOf({
  tenant: text,
  message,
  configuration: fieldsOf({
    acceptedOutputModes: texts,
    historyLength: count,
    returnImmediately: z.boolean().nullish(),
    taskPushNotificationConfig: pushConfig.nullish(),
  }).nullish(),
  metadata,
});
const one = fieldsOf({ tenant: text, id: text, historyLength: count, metadata });
const aboutConfig = fieldsOf({ tenant: text, taskId: text, id: text });

const methods: Methods = new Map<string, z.ZodType<Params>>([
  ['SendMessage', send],
  ['SendStreamingMessage', send],
  ['GetTask', one],
  ['CancelTask', one],
  ['SubscribeToTask', one],
  ['CreateTaskPushNotificationConfig', pushConfig],
  ['GetTaskPushNotificationConfig', aboutConfig],
  ['DeleteTaskPushNotificationConfig', aboutConfig],
  [
    'ListTaskPushNotificationConfigs',
    fieldsOf({ tenant: text, taskId: text, pageSize: count, pageToken: text }),
  ],
  ['GetExtendedAgentCard', fieldsOf({ tenant: text })],
  [
    'ListTasks',
    fieldsOf({
      tenant: text,
      contextId: text,
      status: z.union([z.string(), z.int()]).nullish(),
      pageSize: z.int().min(1).max(limits.pageSize).nullish(),
      pageToken: text,
      historyLength: count,
      statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
      includeArtifacts: z.boolean().nullish(),
    }),
  ],
]);

const legacyPart = z.union([
  fieldsOf({ kind: z.literal('text'), text: z.string(), metadata }),
  fieldsOf({
    kind: z.literal('file'),
    file: z.union([fieldsOf({ bytes: z.base64() }), fieldsOf({ uri: z.string() })]),
    metadata,
  }),
  fieldsOf({ kind: z.literal('data'), data: z.record(z.string(), z.unknown()), metadata }),
]);
const legacyPush = fieldsOf({
  id: text,
  url: z.string(),
  token: text,
  authentication: fieldsOf({ schemes: z.array(z.string()).max(8), credentials: text }).nullish(),
});
const legacySend = fieldsOf({
  message: fieldsOf({
    messageId: z.string(),
    contextId: text,
    taskId: text,
    role: z.enum(['user', 'agent']),
    parts: z.array(legacyPart).max(limits.parts),
    metadata,
    extensions: texts,
    referenceTaskIds: texts,
  }),
  configuration: fieldsOf({
    acceptedOutputModes: texts,
    blocking: z.boolean().nullish(),
    historyLength: count,
    pushNotificationConfig: legacyPush.nullish(),
  }).nullish(),
  metadata,
});
const legacyOne = fieldsOf({ id: z.string(), historyLength: count, metadata });
const legacyConfig = fieldsOf({ id: z.string(), pushNotificationConfigId: text });

/** The same for A2A 0.3. */
const legacyMethods: Methods = new Map<string, z.ZodType<Params>>([
  ['message/send', legacySend],
  ['message/stream', legacySend],
  ['tasks/get', legacyOne],
  ['tasks/cancel', legacyOne],
  ['tasks/resubscribe', legacyOne],
  [
    'tasks/pushNotificationConfig/set',
    fieldsOf({ taskId: z.string(), pushNotificationConfig: legacyPush }),
  ],
  ['tasks/pushNotificationConfig/get', legacyConfig],
  ['tasks/pushNotificationConfig/list', legacyConfig],
  [
    'tasks/pushNotificationConfig/delete',
    fieldsOf({ id: z.string(), pushNotificationConfigId: z.string() }),
  ],
]);

/**
 * A method's parameters, each field under A2A's name for it. Throws `invalid`, naming the field, when
 * they have the wrong types.
 */
export function readParams(method: string, given: unknown, legacy = false): Params {
  const schema = (legacy ? legacyMethods : methods).get(method) ?? object;
  const parsed = schema.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.slice(0, 8).map(({ path, message: what }) => ({
    field: ['params', ...path].join('.'),
    what,
  }));
  const first = fields.map(({ field, what }) => `${field}: ${what}`).at(0) ?? 'params';
  throw new ThroughlineError('invalid', first, { details: { fields } });
}
