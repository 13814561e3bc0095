import type { RouteGroup } from './openapi.ts';
import { agentRoutes } from './routes-agents.ts';
import { archiveRoutes } from './routes-archive.ts';
import { caseRoutes } from './routes-cases.ts';
import { contentRoutes } from './routes-content.ts';
import { feedRoutes } from './routes-feed.ts';
import { masterRoutes } from './routes-master.ts';
import { peopleRoutes } from './routes-people.ts';
import { workerRoutes } from './routes-workers.ts';
import type { Route } from './route.ts';

/** The whole API, by whom it serves. */
export const routeGroups: readonly RouteGroup[] = [
  {
    name: 'agents',
    description: 'What the A2A binding and the runtime of an agent need',
    handedOn: true,
    routes: [...agentRoutes, ...workerRoutes],
  },
  { name: 'masters', description: 'What a Master needs', routes: masterRoutes },
  {
    name: 'content',
    description: 'Offloaded content and the rights to read it',
    routes: contentRoutes,
  },
  { name: 'people', description: 'What people ask and manage', routes: peopleRoutes },
  { name: 'cases', description: 'What people do with a case', routes: caseRoutes },
  { name: 'archive', description: 'Cases carried away', routes: archiveRoutes },
  { name: 'feed', description: 'What is asserted, as it comes', routes: feedRoutes },
];

export const hubRoutes: readonly Route[] = routeGroups.flatMap(({ routes }) => routes);
