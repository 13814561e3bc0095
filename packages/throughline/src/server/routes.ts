import { agentRoutes } from './routes-agents.ts';
import { caseRoutes } from './routes-cases.ts';
import { masterRoutes } from './routes-master.ts';
import { peopleRoutes } from './routes-people.ts';
import type { Route } from './route.ts';

/** The whole API. */
export const hubRoutes: readonly Route[] = [
  ...agentRoutes,
  ...masterRoutes,
  ...peopleRoutes,
  ...caseRoutes,
];
