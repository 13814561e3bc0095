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

const contents = ['text', 'raw', 'url', 'data'] as const;
const part = z
  .looseObject({
    text,
    raw: z.base64().nullish(),
    url: text,
    data: z.unknown().optional(),
    mediaType: text,
    filename: text,
    metadata,
  })
  .refine(
    (value) => contents.filter((key) => (value[key] ?? undefined) !== undefined).length === 1,
    {
      message: `must hold one of ${contents.join(', ')}`,
    },
  );

const message = z.looseObject({
  messageId: text,
  contextId: text,
  taskId: text,
  role: z.union([z.string(), z.int()]),
  parts: z.array(part).max(limits.parts),
  metadata,
  extensions: texts,
  referenceTaskIds: texts,
});

const pushConfig = z.looseObject({
  tenant: text,
  id: text,
  taskId: text,
  url: text,
  token: text,
  authentication: z.looseObject({ scheme: text, credentials: text }).nullish(),
});

const send = z.looseObject({
  tenant: text,
  message,
  configuration: z
    .looseObject({
      acceptedOutputModes: texts,
      historyLength: count,
      returnImmediately: z.boolean().nullish(),
      taskPushNotificationConfig: pushConfig.nullish(),
    })
    .nullish(),
  metadata,
});
const one = z.looseObject({ tenant: text, id: text, historyLength: count, metadata });
const aboutConfig = z.looseObject({ tenant: text, taskId: text, id: text });

const methods: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
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
    z.looseObject({ tenant: text, taskId: text, pageSize: count, pageToken: text }),
  ],
  ['GetExtendedAgentCard', z.looseObject({ tenant: text })],
  [
    'ListTasks',
    z.looseObject({
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
  z.looseObject({ kind: z.literal('text'), text: z.string(), metadata }),
  z.looseObject({
    kind: z.literal('file'),
    file: z.union([z.looseObject({ bytes: z.base64() }), z.looseObject({ uri: z.string() })]),
    metadata,
  }),
  z.looseObject({ kind: z.literal('data'), data: z.record(z.string(), z.unknown()), metadata }),
]);
const legacyPush = z.looseObject({
  id: text,
  url: z.string(),
  token: text,
  authentication: z
    .looseObject({ schemes: z.array(z.string()).max(8), credentials: text })
    .nullish(),
});
const legacySend = z.looseObject({
  message: z.looseObject({
    messageId: z.string(),
    contextId: text,
    taskId: text,
    role: z.enum(['user', 'agent']),
    parts: z.array(legacyPart).max(limits.parts),
    metadata,
    extensions: texts,
    referenceTaskIds: texts,
  }),
  configuration: z
    .looseObject({
      acceptedOutputModes: texts,
      blocking: z.boolean().nullish(),
      historyLength: count,
      pushNotificationConfig: legacyPush.nullish(),
    })
    .nullish(),
  metadata,
});
const legacyOne = z.looseObject({ id: z.string(), historyLength: count, metadata });
const legacyConfig = z.looseObject({ id: z.string(), pushNotificationConfigId: text });

/** The same for A2A 0.3. */
const legacyMethods: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['message/send', legacySend],
  ['message/stream', legacySend],
  ['tasks/get', legacyOne],
  ['tasks/cancel', legacyOne],
  ['tasks/resubscribe', legacyOne],
  [
    'tasks/pushNotificationConfig/set',
    z.looseObject({ taskId: z.string(), pushNotificationConfig: legacyPush }),
  ],
  ['tasks/pushNotificationConfig/get', legacyConfig],
  ['tasks/pushNotificationConfig/list', legacyConfig],
  [
    'tasks/pushNotificationConfig/delete',
    legacyConfig.extend({ pushNotificationConfigId: z.string() }),
  ],
]);

/** Throws `invalid`, naming the field, when a method's parameters have the wrong types. */
export function checkParams(method: string, params: unknown, legacy = false): void {
  const schema = (legacy ? legacyMethods : methods).get(method);
  const parsed = schema?.safeParse(params ?? {});
  if (parsed === undefined || parsed.success) return;
  const fields = parsed.error.issues.slice(0, 8).map(({ path, message: what }) => ({
    field: ['params', ...path].join('.'),
    what,
  }));
  const first = fields.map(({ field, what }) => `${field}: ${what}`).at(0) ?? 'params';
  throw new ThroughlineError('invalid', first, { details: { fields } });
}
