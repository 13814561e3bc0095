export { explain, label } from './explain.ts';
export { apply, foldAll, type Applied } from './fold.ts';
export { lineageTypes } from './fold-relationship.ts';
export { isFinal } from './fold-task.ts';
export {
  Graph,
  holderOf,
  kindOf,
  type GraphObject,
  type GraphParts,
  type GraphSnapshot,
} from './graph.ts';
export { impact, type Affected } from './impact.ts';
export { interpret, type MakeId, type Resolved } from './interpret.ts';
export { ancestors, descendants, type LineageQuery, type Reached } from './lineage.ts';
export { modifiersOf } from './modifiers.ts';
export { rolesOf, type Role, type RoleInActivity } from './roles.ts';
export { hasSay, isInside, mayRelate } from './standing.ts';
export { failedTasks, mayBeStuck, stuckTasks } from './stuck.ts';
