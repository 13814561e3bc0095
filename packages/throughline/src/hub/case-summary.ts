import { stuckTasks, type Graph } from '../graph/index.ts';
import type { CaseSummary, Principal } from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import type { OpenCase } from './case-access.ts';
import { nameFor, type Contexts } from './contexts.ts';

/** `graph` is counted, `words` holds what people wrote. */
export async function summarize(
  reader: StoreReader,
  contexts: Contexts,
  of: { principal: Principal; open: OpenCase; graph: Graph; words: Graph },
): Promise<CaseSummary> {
  const { principal, open, graph, words } = of;
  const { activity: id, record } = open;
  const { ref, openedAt, updatedAt } = record.shape;
  const activity = words.activity(id);
  const context = await contexts.byRef(reader, principal, ref);
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
