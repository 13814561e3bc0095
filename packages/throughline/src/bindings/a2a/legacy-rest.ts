import { AgentCard, GetExtendedAgentCardRequest } from '@a2a-js/sdk';
import { LEGACY_JSON_CONTENT_TYPE } from '@a2a-js/sdk/compat/v0_3';
import { LegacyRestTransportHandler, toLegacyHTTPError } from '@a2a-js/sdk/compat/v0_3/server';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { restFailure, toA2aError } from './errors.ts';
import {
  eventToLegacy,
  pushFromLegacy,
  pushToLegacy,
  sendFromLegacy,
  taskToLegacy,
} from './legacy-json.ts';
import {
  matchRoute,
  restRoutes,
  type Dialect,
  type Found,
  type RestBody,
  type RestRoute,
} from './rest-routes.ts';
import { legacyVersion } from './version.ts';

const prefix = '/v1/';
const object = z.record(z.string(), z.unknown());
const configs = z.looseObject({ configs: z.array(object) });

/** 0.3 has no list of tasks over HTTP, and its card lies elsewhere. */
const legacyRoutes: readonly RestRoute[] = restRoutes
  .filter(({ rpc }) => rpc !== 'ListTasks')
  .map((route) => (route.rpc === 'GetExtendedAgentCard' ? cardRoute(route) : route));

function cardRoute(route: RestRoute): RestRoute {
  return {
    ...route,
    path: '/card',
    answer: async (guard, params, context) => {
      const asked = GetExtendedAgentCardRequest.fromJSON(params);
      const card = await guard.getAuthenticatedExtendedAgentCard(asked, context);
      const legacy = await new LegacyRestTransportHandler(guard).getAuthenticatedExtendedAgentCard(
        context,
      );
      // Protobuf's JSON of what secures an agent is the same in both versions, and not 0.3's own JSON.
      const { securitySchemes, securityRequirements } = object.parse(AgentCard.toJSON(card));
      const skills = legacy.skills.map(({ security: _security, ...skill }) => skill);
      return { ...legacy, skills, securitySchemes, security: securityRequirements };
    },
  };
}

/** The config of a request; its name may be left out and may not be another task's. */
function configOf(body: RestBody, taskId: string): unknown {
  const { name, pushNotificationConfig } = body;
  const isOf = (text: unknown): boolean =>
    typeof text === 'string' && text.startsWith(`tasks/${taskId}/`);
  if (name !== undefined && !isOf(name)) {
    throw new ThroughlineError('invalid', 'name: is not of the task in the path');
  }
  return pushFromLegacy(pushNotificationConfig ?? {});
}

function request({ route, path }: Found, body: RestBody) {
  if (route.rpc === 'CreateTaskPushNotificationConfig') {
    return object.parse(configOf(body, path['task'] ?? ''));
  }
  return route.path.startsWith('/message') ? object.parse(sendFromLegacy(body)) : {};
}

/** How the answers of each method look; those that are not named are the same in both versions. */
const answers: Readonly<Record<string, (json: unknown) => unknown>> = {
  SendMessage: eventToLegacy,
  GetTask: taskToLegacy,
  CancelTask: taskToLegacy,
  CreateTaskPushNotificationConfig: pushToLegacy,
  GetTaskPushNotificationConfig: pushToLegacy,
  ListTaskPushNotificationConfigs: (json) => ({
    configs: configs.parse(json).configs.map((config) => pushToLegacy(config)),
  }),
};

/** HTTP+JSON of A2A 0.3: the routes of 1.0 under `/v1`, each in the older form. */
export const legacyDialect: Dialect = {
  version: legacyVersion,
  contentType: LEGACY_JSON_CONTENT_TYPE,
  speaks: (version, pathname) => version === legacyVersion && pathname.startsWith(prefix),
  find: (method, pathname) =>
    matchRoute(legacyRoutes, method, pathname.slice(prefix.length).split('/')),
  request,
  answer: ({ route }, json) => answers[route.rpc]?.(json) ?? json,
  event: eventToLegacy,
  failure: (error) => {
    const { code, message } = toLegacyHTTPError(toA2aError(error));
    return { status: restFailure(error).status, body: { code, message } };
  },
};
