import { z } from 'zod';
import { idSchema, shortText, type IdKind } from './ids.ts';
import { selectorSchema } from './resource.ts';

export type ObjectKind = Extract<
  IdKind,
  'participant' | 'activity' | 'dialog' | 'task' | 'resource'
>;
type Endpoint = readonly [from: ObjectKind, to: ObjectKind];

interface RelationshipRule {
  /** Allowed pairs; absent means any to any. */
  readonly endpoints?: readonly Endpoint[];
  /** At most one active edge of this type out of one object. */
  readonly single: boolean;
  readonly acyclic: boolean;
  readonly needsSelector?: true;
}

const same = (...kinds: ObjectKind[]): Endpoint[] => kinds.map((kind) => [kind, kind]);
const ontoUse = (to: ObjectKind[]): Endpoint[] => to.map((kind) => ['resource', kind]);

/** The taxonomy: endpoints, out-degree and rule of each type. */
export const relationshipRules = {
  'delegated-from': {
    endpoints: [...same('dialog', 'task'), ['dialog', 'task']],
    single: true,
    acyclic: true,
  },
  'continuation-of': { endpoints: same('dialog', 'task', 'activity'), single: true, acyclic: true },
  replaces: { endpoints: same('dialog', 'task', 'resource'), single: true, acyclic: true },
  'aggregated-from': {
    endpoints: same('dialog', 'task', 'resource'),
    single: false,
    acyclic: true,
  },
  'derived-from': { endpoints: same('resource'), single: false, acyclic: true },
  'part-of': { endpoints: same('resource'), single: true, acyclic: true, needsSelector: true },
  modifies: { endpoints: ontoUse(['resource', 'task']), single: false, acyclic: false },
  'input-to': {
    endpoints: ontoUse(['task', 'dialog', 'activity']),
    single: false,
    acyclic: false,
  },
  'used-in': {
    endpoints: ontoUse(['task', 'dialog', 'activity']),
    single: false,
    acyclic: false,
  },
  'output-of': { endpoints: ontoUse(['task', 'dialog']), single: true, acyclic: false },
  clarifies: {
    endpoints: [
      ['dialog', 'dialog'],
      ['dialog', 'task'],
    ],
    single: false,
    acyclic: false,
  },
  'related-to': { single: false, acyclic: false },
} as const satisfies Record<string, RelationshipRule>;

export type KnownRelationshipType = keyof typeof relationshipRules;

/** From a case to the one that people merged it into; of our own, so to others it is `related-to`. */
export const mergedInto = 'dev.throughline.merged-into';

/** Types we know, or an extension's name: reverse DNS or a URI, treated as `related-to`. */
export const relationshipType = z
  .string()
  .max(255)
  .regex(/^(?:[a-z][a-z-]*|[a-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?:[/][\w.-]+)*|[a-z][a-z0-9+.-]*:\S+)$/)
  .refine((type) => type in relationshipRules || /[.:]/.test(type), {
    message:
      'unknown relationship type; use one of the taxonomy or a reverse-DNS or URI name of your own',
  });

const rules: ReadonlyMap<string, RelationshipRule> = new Map(Object.entries(relationshipRules));

/** The rule of a type; an extension follows `related-to`. */
export function ruleOf(type: string): RelationshipRule {
  return rules.get(type) ?? relationshipRules['related-to'];
}

export const relationshipSchema = z.object({
  id: idSchema('relationship'),
  activity: idSchema('activity'),
  type: relationshipType,
  from: z.string(),
  to: z.string(),
  /** How a Resource is used there: local to that edge, never inherited. */
  role: shortText.optional(),
  note: shortText.optional(),
  selector: selectorSchema.optional(),
  /** Participant id, or `hub`. */
  assertedBy: z.string(),
  status: z.enum(['active', 'revoked']),
});
export type Relationship = z.infer<typeof relationshipSchema>;
