import { lineageTypes, type CaseIndex, type Relationship } from './case-index.ts';

/** A step of a lineage. */
export interface LineageStep {
  readonly id: string;
  readonly relation: string;
  /** 1 for what the start itself names. */
  readonly depth: number;
  readonly edge: Relationship;
}

const mostSteps = 200;

const isUse = ({ type }: Relationship): boolean => type === 'input-to' || type === 'used-in';

type Step = readonly [string, Relationship];

/**
 * What something comes from, depth first. A Resource comes from the Task that put it out and from what
 * that Task was given; a Task or Dialog from what it was delegated from, continues or replaces.
 */
export const comesFrom = (index: CaseIndex, id: string): LineageStep[] =>
  walk(id, (at): Step[] => {
    if (at !== id && index.resource(id) !== undefined && index.resource(at) === undefined) {
      return index.given(at).map((edge) => [edge.from, edge]);
    }
    return index
      .out(at)
      .filter(({ type }) => lineageTypes.has(type) || type === 'output-of')
      .map((edge) => [edge.to, edge]);
  });

/** What came from something: copies, parts, attempts, and what Tasks that were given it put out. */
export const ledTo = (index: CaseIndex, id: string): LineageStep[] =>
  walk(id, (at): Step[] => {
    return [
      ...index
        .in(at)
        .filter(({ type }) => lineageTypes.has(type) || type === 'output-of')
        .map((edge): Step => [edge.from, edge]),
      ...index
        .out(at)
        .filter((edge) => isUse(edge) && index.task(edge.to) !== undefined)
        .map((edge): Step => [edge.to, edge]),
    ];
  });

function walk(start: string, next: (id: string) => readonly Step[]): LineageStep[] {
  const steps: LineageStep[] = [];
  const seen = new Set([start]);
  const go = (at: string, depth: number): void => {
    for (const [id, edge] of next(at)) {
      if (seen.has(id) || edge.status !== 'active' || steps.length >= mostSteps) continue;
      seen.add(id);
      steps.push({ id, relation: edge.type, depth, edge });
      go(id, depth + 1);
    }
  };
  go(start, 1);
  return steps;
}
