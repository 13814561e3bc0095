import type { Observation } from '../model/index.ts';
import type { StoreWriter } from '../store/store.ts';
import { executing, type Acting } from './acting.ts';
import { authorize, may } from './authorize.ts';
import { guarded } from './contexts.ts';
import type { Deps } from './deps.ts';
import { recordObservations, type Vantage } from './observing.ts';
import { contextRefused, notFound, parse } from './refusals.ts';
import { guardTask } from './task-records.ts';
import { observationsSchema, type TaskParts } from './tasks.ts';

/** What a side of a binding saw apart from writing a task's record. */
export class Observer {
  readonly #deps: Deps;
  readonly #parts: TaskParts;

  constructor(deps: Deps, parts: TaskParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** All or none. `not-found` and `context-refused` as for the calls that the observations tell of. */
  async observe(acting: Acting, observations: readonly Observation[]): Promise<void> {
    const seen = parse(observationsSchema, observations, 'observations');
    await this.#deps.store.write(async (writer) => {
      for (const [first, ...others] of exchanges(seen)) {
        const vantage =
          first.side === 'client'
            ? await this.#asClient(writer, acting, first)
            : await this.#asServer(writer, acting, first);
        const all = [first, ...others];
        await recordObservations(this.#deps, this.#parts.registries, writer, all, vantage);
      }
    });
  }

  /**
   * The client's own word about what it asked for: the word of whoever makes the call, not of a
   * caller whose credential it was handed. A context counts as ours if it may send there.
   */
  async #asClient(writer: StoreWriter, acting: Acting, seen: Observation): Promise<Vantage> {
    const principal = executing(acting);
    const { tenant, id } = principal;
    const found = await this.#parts.contexts.lookup(writer, principal, seen.contextId);
    const context = found && may(principal, 'send', guarded(found)) ? found : undefined;
    const server = context && (seen.server.principal ?? context.agent);
    return { tenant, observer: id, client: id, server, context };
  }

  /** An agent's word about its own work, or an agent's in this process about its caller's. */
  async #asServer(writer: StoreWriter, acting: Acting, seen: Observation): Promise<Vantage> {
    const { principal } = acting;
    const { tenant } = principal;
    const agent = seen.server.principal ?? executing(acting).id;
    if (acting.via !== undefined) {
      authorize(acting.via, 'execute', { tenant, agent }, () => notFound('agent', agent));
    }
    const taskId = 'taskId' in seen ? seen.taskId : undefined;
    if (taskId === undefined) {
      const context = await this.#parts.contexts.lookup(writer, principal, seen.contextId);
      authorize(principal, 'send', context && guarded(context), () =>
        contextRefused(seen.contextId),
      );
      const authenticated = principal;
      const client = principal.id;
      return { tenant, observer: agent, client, authenticated, server: agent, context };
    }
    const refusal = () => notFound('task', taskId);
    const task = await this.#parts.tasks.get(writer, tenant, taskId);
    const context = await this.#parts.contexts.byRef(writer, principal, task?.shape.ref);
    if (task === undefined || task.content.agent !== agent || context === undefined) {
      throw refusal();
    }
    // What an agent tells of its own work needs no right of its caller; what the caller asks for does.
    const asks = seen.kind === 'cancel-request' && principal.id !== agent;
    const action = seen.kind === 'cancel-request' ? 'cancel' : 'send';
    if (asks || executing(acting).id !== agent) {
      authorize(principal, action, guardTask(task, context), refusal);
    }
    const client = principal.id === agent ? task.content.owner : principal.id;
    const known = task.shape.task;
    return {
      tenant,
      observer: agent,
      client,
      authenticated: principal,
      server: agent,
      context,
      task: known,
    };
  }
}

type Some = [Observation, ...Observation[]];

/** What a client saw of one exchange stays together; all else stands by itself, in the same order. */
function exchanges(seen: readonly Observation[]): Some[] {
  const groups: Some[] = [];
  for (const each of seen) {
    const last = groups.at(-1);
    if (last !== undefined && isSameExchange(last[0], each)) last.push(each);
    else groups.push([each]);
  }
  return groups;
}

const isSameExchange = (a: Observation, b: Observation): boolean =>
  a.side === 'client' &&
  b.side === 'client' &&
  a.contextId === b.contextId &&
  a.server.principal === b.server.principal;
