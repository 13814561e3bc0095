import { z } from 'zod';
import { activitySchema } from './activity.ts';
import { admissionRequestSchema, admissionSchema } from './admission.ts';
import { agentContextSchema } from './agent-context.ts';
import { agentsFileSchema, listedAgentSchema } from './agents-file.ts';
import { assertionSchema, conflictSchema, draftSchema, statementSchema } from './assertion.ts';
import {
  casePageSchema,
  caseSummarySchema,
  caseViewSchema,
  explanationSchema,
  timelinePageSchema,
} from './case-view.ts';
import { contentAccessSchema, contentRefSchema } from './content.ts';
import { deviceContextSchema } from './device-context.ts';
import { dialogSchema } from './dialog.ts';
import { envelopeSchema } from './envelope.ts';
import { environmentContextSchema } from './environment-context.ts';
import { grantRequestSchema, grantSchema } from './grant.ts';
import { feedEventSchema } from './feed.ts';
import { foreignId, shortText } from './ids.ts';
import { keySummarySchema } from './key.ts';
import { limits } from './limits.ts';
import { observationSchema } from './observation.ts';
import { participantSchema } from './participant.ts';
import { principalSchema } from './principal.ts';
import { pushConfigSchema } from './push-config.ts';
import { quotaReportSchema } from './quota.ts';
import { relationshipSchema } from './relationship.ts';
import { resourceSchema } from './resource.ts';
import { runReportSchema } from './run.ts';
import { taskContextSchema } from './task-context.ts';
import { taskPageSchema, taskQuerySchema, taskRecordSchema } from './task-record.ts';
import { taskSchema } from './task.ts';
import { termsSchema } from './terms.ts';
import { handoverSchema } from './usage.ts';
import { workflowSchema } from './workflow.ts';

/** What others may hold in their hands, by the name of its published schema. */
export const publishedSchemas = {
  activity: activitySchema,
  admission: admissionSchema,
  'agent-context': agentContextSchema,
  assertion: assertionSchema,
  'case-page': casePageSchema,
  'case-summary': caseSummarySchema,
  'case-view': caseViewSchema,
  conflict: conflictSchema,
  'content-access': contentAccessSchema,
  'content-ref': contentRefSchema,
  'device-context': deviceContextSchema,
  dialog: dialogSchema,
  envelope: envelopeSchema,
  'environment-context': environmentContextSchema,
  explanation: explanationSchema,
  'feed-event': feedEventSchema,
  grant: grantSchema,
  handover: handoverSchema,
  'key-summary': keySummarySchema,
  observation: observationSchema,
  participant: participantSchema,
  principal: principalSchema,
  'push-config': pushConfigSchema,
  'quota-report': quotaReportSchema,
  relationship: relationshipSchema,
  resource: resourceSchema,
  'run-report': runReportSchema,
  statement: statementSchema,
  task: taskSchema,
  'task-context': taskContextSchema,
  'task-page': taskPageSchema,
  'task-record': taskRecordSchema,
  terms: termsSchema,
  'timeline-page': timelinePageSchema,
} satisfies Record<string, z.ZodType>;

/** What others send us: here a field with a default may be left out. */
const taken = {
  'admission-request': admissionRequestSchema,
  agents: agentsFileSchema,
  draft: draftSchema,
  'grant-request': grantRequestSchema,
  'task-query': taskQuerySchema,
  workflow: workflowSchema,
} satisfies Record<string, z.ZodType>;

/**
 * What of a check in code a JSON Schema can say too. Lengths there are in characters: text within a
 * bound of bytes is within the same bound of characters.
 */
const sayable: ReadonlyMap<z.core.$ZodType, z.core.JSONSchema.JSONSchema> = new Map<
  z.core.$ZodType,
  z.core.JSONSchema.JSONSchema
>([
  [foreignId, { pattern: String.raw`^[^\p{Cc}/\\]+$`, maxLength: limits.foreignIdBytes }],
  [shortText, { maxLength: limits.textBytes }],
  [listedAgentSchema, { oneOf: [{ required: ['url'] }, { required: ['module'] }] }],
]);

const base = 'https://throughline.dev/schemas/v1';

/**
 * The published JSON Schemas by name, each complete in itself. They are never
 * stricter than the code, which also checks bytes, well-formed Unicode and names of relationships.
 */
export function jsonSchemas(): Readonly<Record<string, object>> {
  const schemas: Record<string, object> = {};
  const add = (name: string, schema: z.ZodType, io: 'input' | 'output'): void => {
    const body = z.toJSONSchema(schema, {
      io,
      override: ({ zodSchema, jsonSchema }) => {
        Object.assign(jsonSchema, sayable.get(zodSchema));
      },
    });
    schemas[name] = { $id: `${base}/${name}.json`, title: name, ...body };
  };
  for (const [name, schema] of Object.entries(publishedSchemas)) add(name, schema, 'output');
  for (const [name, schema] of Object.entries(taken)) add(name, schema, 'input');
  return schemas;
}
