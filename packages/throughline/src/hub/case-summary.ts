import { failedTasks, stuckTasks, type Graph } from '../graph/index.ts';
import type { CaseSummary, Principal } from '../model/index.ts';
import type { OpenCase } from './case-access.ts';
import { nameFor } from './contexts.ts';

/** Participants that a summary names. */
const mostNamed = 8;

/** Participants whose step it is, each once. */
export const waitedFor = (graph: Graph): string[] =>
  [...new Set(stuckTasks(graph).flatMap(({ whose }) => whose))].slice(0, mostNamed);

/** `graph` is counted, `words` holds what people wrote, `people` what they are called. */
export function summarize(of: {
  principal: Principal;
  open: OpenCase;
  graph: Graph;
  words: Graph;
  people: Graph;
}): CaseSummary {
  const { principal, open, graph, words, people } = of;
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
    ...stuckIn(graph, people),
  };
}

function stuckIn(graph: Graph, people: Graph): Pick<CaseSummary, 'stuck' | 'failed' | 'whose'> {
  const failed = failedTasks(graph).length;
  const whose = waitedFor(graph).map((participant) => {
    const { name, url } = people.participant(participant) ?? {};
    const called = name ?? url;
    return { participant, ...(called === undefined ? {} : { name: called }) };
  });
  return {
    stuck: stuckTasks(graph).length,
    ...(failed > 0 && { failed }),
    ...(whose.length > 0 && { whose }),
  };
}
