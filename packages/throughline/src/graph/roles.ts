import type { ParticipantKind } from '../model/index.ts';
import type { Graph } from './graph.ts';

/** Activity Initiating Entity, First Next Entity, Assistant Agent, Assistant Tool. */
export type Role = 'AIE' | 'FNE' | 'AA' | 'AT';

export interface RoleInActivity {
  readonly activity: string;
  readonly role: Role;
}

/** Only an agent or a tool can assist; an application can be invoked by an AIE alone. */
const assistant: Readonly<Partial<Record<ParticipantKind, Role>>> = { agent: 'AA', tool: 'AT' };

/**
 * The roles of a Participant, read off the graph: they follow the chain of invocations, not the kind
 * of the Participant. Who joins a Dialog that others opened was not invoked and gets no role by it.
 */
export function rolesOf(graph: Graph, participant: string): RoleInActivity[] {
  const found = new Map<string, RoleInActivity>();
  const add = (activity: string, role: Role): void => {
    found.set(`${activity} ${role}`, { activity, role });
  };
  const kind = graph.participant(participant)?.kind;
  const assists = kind === undefined ? undefined : assistant[kind];
  for (const { kind: of, value } of graph.objects()) {
    if (of === 'activity') {
      if (value.initiator === participant) add(value.id, 'AIE');
      if (value.firstNext === participant) add(value.id, 'FNE');
    } else if (of === 'dialog' && assists !== undefined) {
      const initial = graph.activity(value.activity)?.initialDialog === value.id;
      const invoked = value.invoker !== undefined && value.invoker !== participant;
      if (!initial && invoked && value.participants.includes(participant)) {
        add(value.activity, assists);
      }
    }
  }
  return [...found.values()];
}
