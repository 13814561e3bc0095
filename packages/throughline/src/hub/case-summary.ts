import { stuckTasks, type Graph } from '../graph/index.ts';
import type { CaseSummary, Principal } from '../model/index.ts';
import type { OpenCase } from './case-access.ts';
import { nameFor } from './contexts.ts';

/** `graph` is counted, `words` holds what people wrote. */
export function summarize(of: {
  principal: Principal;
  open: OpenCase;
  graph: Graph;
  words: Graph;
}): CaseSummary {
  const { principal, open, graph, words } = of;
  const { activity: id, record, context } = open;
  const { openedAt, updatedAt } = record.shape;
  const activity = words.activity(id);
  const initial = words.dialog(activity?.initialDialog ?? '');
  const contextId =
    context === undefined ? initial?.local[0]?.localId : nameFor(context, principal.id);
  const objects = [...graph.objects()];
  const count = (kind: string) => objects.filter((object) => object.kind === kind).length;
  return {
    activity: id,
    ...(contextId === undefined ? {} : { contextId }),
    ...(activity?.objective === undefined ? {} : { objective: activity.objective }),
    ...(record.content === undefined ? {} : { owner: record.content.owner }),
    openedAt: new Date(openedAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    closed: activity?.closed ?? false,
    ...(activity?.erased === true ? { erased: true } : {}),
    ...(activity?.labels === undefined ? {} : { labels: activity.labels }),
    counts: {
      activities: count('activity'),
      dialogs: count('dialog'),
      tasks: count('task'),
      resources: count('resource'),
      relationships: [...graph.relationships()].length,
    },
    stuck: stuckTasks(graph).length,
  };
}
