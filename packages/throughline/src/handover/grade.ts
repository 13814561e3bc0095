import { Ajv2020, _, type CodeKeywordDefinition } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { ThroughlineError } from '../errors.ts';
import type { AgentContext } from '../model/agent-context.ts';
import {
  citationSchema,
  type Citation,
  type CriterionGrade,
  type Graded,
  type GraderSpec,
  type PureGraderSpec,
} from '../model/grader.ts';
import { limits } from '../model/limits.ts';
import { assertWithin } from './json-bounds.ts';

/** What graders look at, gathered beforehand; texts only. */
export interface GradeSubject {
  /** As it came back from the agent. */
  readonly context: AgentContext;
  /** Outputs by their name. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Whole contents of what the agent was given, by ContextID. */
  readonly materials: ReadonlyMap<string, string>;
}

/** Bytes of a JSON Schema, at most. */
const schemaBytes = 65_536;
/** References that are followed in one validation, and citations that are looked up, at most. */
const mostSteps = 2_000_000;
const mostCitations = 1_000;
/** Bytes of JSON that is graded, at most. */
const jsonBounds = { bytes: limits.contentBytes, depth: limits.jsonDepth };

/** Refuses a grader that could never run. @throws ThroughlineError `invalid`, or `too-large`. */
export function checkGraderSpec(spec: GraderSpec): void {
  if (spec.by === 'schema') compileSchema(spec.schema);
  if (spec.by === 'pattern') compilePattern(spec.pattern, spec.ignoreCase);
}

interface Finding {
  readonly ok: boolean;
  readonly reason: string;
  readonly evidence?: readonly string[];
}

/** Grades one criterion without asking anybody. */
export function gradePurely(
  id: string,
  spec: PureGraderSpec,
  subject: GradeSubject,
): CriterionGrade {
  const text = gradedText(spec.of, subject);
  const {
    ok,
    reason,
    evidence = [],
  } = text === undefined
    ? { ok: false, reason: `${nameOf(spec.of)} is not there` }
    : find(spec, text, subject);
  const looked = text !== undefined && spec.of && 'output' in spec.of ? [spec.of.output] : [];
  return { id, ok, by: spec.by, reason, evidence: [...looked, ...evidence] };
}

function find(spec: PureGraderSpec, text: string, subject: GradeSubject): Finding {
  if (spec.by === 'pattern') {
    const found = compilePattern(spec.pattern, spec.ignoreCase).matcher(text).find();
    const what = `${spec.pattern} is ${found ? '' : 'not '}in ${nameOf(spec.of)}`;
    return { ok: found !== spec.absent, reason: what };
  }
  const value = jsonIn(text);
  if (value === undefined)
    return { ok: false, reason: `${nameOf(spec.of)} is no JSON within bounds` };
  return spec.by === 'schema'
    ? bySchema(spec.schema, value.json)
    : byCitations(spec.least, value.json, subject);
}

function bySchema(schema: Readonly<Record<string, unknown>>, json: unknown): Finding {
  const { ajv, validate } = compileSchema(schema);
  try {
    return validate(json)
      ? { ok: true, reason: 'the schema accepts it' }
      : { ok: false, reason: ajv.errorsText(validate.errors, { dataVar: '' }).slice(0, 500) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { ok: false, reason: 'the references of the schema come to no end, or are too many' };
  }
}

function byCitations(least: number, json: unknown, subject: GradeSubject): Finding {
  const citations = citationsIn(json);
  if (citations === undefined) return { ok: false, reason: 'a citation lacks contextId or quote' };
  if (citations.length > mostCitations) {
    return { ok: false, reason: `it has more than ${mostCitations} citations` };
  }
  const flatMaterials = new Map(citations.map(({ contextId }) => [contextId, '']));
  for (const id of flatMaterials.keys())
    flatMaterials.set(id, flat(subject.materials.get(id) ?? ''));
  const wrong = citations.find(({ contextId, quote }) => {
    const wanted = flat(quote);
    return wanted === '' || flatMaterials.get(contextId)?.includes(wanted) !== true;
  });
  if (wrong !== undefined) {
    const known = subject.materials.has(wrong.contextId);
    const why = known ? 'does not stand in' : 'is said to be in what was not given:';
    return {
      ok: false,
      reason: `${JSON.stringify(wrong.quote.slice(0, 80))} ${why} ${wrong.contextId}`,
    };
  }
  const evidence = [...new Set(citations.map(({ contextId }) => contextId))];
  return {
    ok: citations.length >= least,
    reason: `${citations.length} citations stand where they are said to, ${least} are needed`,
    evidence,
  };
}

/** White space is not part of a quotation: texts are laid out anew wherever they go. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** All entries of lists called `citations`, wherever they stand; undefined when one is malformed. */
function citationsIn(json: unknown): Citation[] | undefined {
  const found: Citation[] = [];
  const stack: unknown[] = [json];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (key !== 'citations' || !Array.isArray(inner)) {
        stack.push(inner);
        continue;
      }
      for (const each of inner) {
        const citation = citationSchema.safeParse(each);
        if (!citation.success) return undefined;
        found.push(citation.data);
      }
    }
  }
  return found;
}

/** The text that a grader looks at; undefined when it is not there. */
export function gradedText(of: Graded, { context, outputs }: GradeSubject): string | undefined {
  if (of === undefined) {
    return context.KeyInformation.map(({ outputabstract }) => outputabstract).join('\n\n');
  }
  if ('output' in of) return outputs.get(of.output);
  return context.KeyInformation.find(({ itemID }) => itemID === of.item)?.outputabstract;
}

const nameOf = (of: Graded): string =>
  of === undefined
    ? 'the key information'
    : 'output' in of
      ? `output ${of.output}`
      : `what was told of ${of.item}`;

/** JSON with the value in it, or undefined for what is none or too deep. */
function jsonIn(text: string): { readonly json: unknown } | undefined {
  try {
    const json: unknown = JSON.parse(text);
    assertWithin(json, jsonBounds, 'The JSON');
    return { json };
  } catch {
    return undefined;
  }
}

/** RE2 is linear in time: a pattern of a stranger can't stall who runs it. */
function compilePattern(pattern: string, ignoreCase = false): RE2JS {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is no pattern';
    throw new ThroughlineError('invalid', `The pattern ${pattern} can’t be used: ${why}`);
  }
}

function compileSchema(schema: Readonly<Record<string, unknown>>) {
  assertWithin(schema, { bytes: schemaBytes, depth: limits.jsonDepth }, 'The JSON Schema');
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    logger: false,
    code: { regExp: Object.assign(linear, { code: '' }) },
  });
  bound(ajv);
  try {
    // An asynchronous schema would answer with a promise where yes or no is asked for.
    return { ajv, validate: ajv.compile({ ...schema, $async: false }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is no JSON Schema';
    throw new ThroughlineError('invalid', `The JSON Schema can’t be used: ${why}`);
  }
}

/**
 * Bounds what a schema can ask for: references that double at each level would be followed without end,
 * and each item would be compared with each other one.
 */
function bound(ajv: Ajv2020): void {
  let steps = 0;
  const step = (): void => {
    steps += 1;
    if (steps > mostSteps) throw new RangeError('too many references are followed');
  };
  for (const keyword of ['$ref', '$dynamicRef']) {
    const known = ajv.getKeyword(keyword);
    if (typeof known !== 'object' || !('code' in known)) continue;
    const counted: CodeKeywordDefinition = {
      keyword,
      schemaType: 'string',
      code: (cxt, rule) => {
        cxt.gen.code(_`${cxt.gen.scopeValue('func', { ref: step })}()`);
        known.code(cxt, rule);
      },
    };
    ajv.removeKeyword(keyword).addKeyword(counted);
  }
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (isAsked: boolean, items: readonly unknown[]) =>
      !isAsked || new Set(items.map((item) => JSON.stringify(item, inOrder))).size === items.length,
    error: { message: 'must not have the same item twice' },
  });
}

/** Objects with their members in the order of their names. */
const inOrder = (_key: string, value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Patterns inside of schemas run in linear time, too; the validator tells them apart by their text. */
const linear = (pattern: string): { test: (text: string) => boolean; toString: () => string } => {
  const compiled = compilePattern(pattern);
  return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
};
