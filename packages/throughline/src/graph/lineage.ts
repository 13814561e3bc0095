import { lineageTypes } from './fold-relationship.ts';
import type { Graph } from './graph.ts';

export interface LineageQuery {
  /** Steps at most. Default: no bound but the limit. */
  readonly depth?: number;
  /** Relationship types to follow. Default: those that say where something comes from. */
  readonly types?: readonly string[];
  /** Objects at most. */
  readonly limit?: number;
}

export interface Reached {
  readonly id: string;
  /** Steps from the start; 1 for its neighbours. */
  readonly depth: number;
}

/** An Activity's output has its producer above it. */
const upward: readonly string[] = [...lineageTypes, 'output-of'];
const mostReached = 10_000;

/** What something comes from, nearest first, without itself. Relationships only, no membership. */
export function ancestors(graph: Graph, id: string, query: LineageQuery = {}): Reached[] {
  const types = query.types ?? upward;
  return closure(id, query, (each) => graph.out(each, types).map((edge) => edge.to));
}

/** What comes from something, nearest first, without itself. Relationships only, no membership. */
export function descendants(graph: Graph, id: string, query: LineageQuery = {}): Reached[] {
  const types = query.types ?? upward;
  return closure(id, query, (each) => graph.in(each, types).map((edge) => edge.from));
}

function closure(
  start: string,
  { depth = Infinity, limit = mostReached }: LineageQuery,
  next: (id: string) => readonly string[],
): Reached[] {
  const found = new Map<string, number>([[start, 0]]);
  for (const [id, at] of found) {
    if (at >= depth) break;
    for (const neighbour of next(id)) {
      if (found.size > limit) break;
      if (!found.has(neighbour)) found.set(neighbour, at + 1);
    }
  }
  found.delete(start);
  return [...found].map(([id, at]) => ({ id, depth: at }));
}
