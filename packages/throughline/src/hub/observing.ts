import { interpret, kindOf, type MakeId, type Resolved } from '../graph/index.ts';
import type { DraftInput, Observation, Party, Principal } from '../model/index.ts';
import type { StoreWriter } from '../store/store.ts';
import type { Cases } from './case-records.ts';
import type { Context } from './contexts.ts';
import type { Deps } from './deps.ts';
import { meet, ownParty } from './meet.ts';
import type { LocalName, Mappings } from './mappings.ts';
import type { Participants } from './participants.ts';
import { Recorder, type Recorded } from './recorder.ts';

/** Who says what was observed, of whom, and in which context of ours (none at others' servers). */
export interface Vantage {
  readonly tenant: string;
  /** Principal whose word it is. */
  readonly observer: string;
  /** Principal that sent the messages. */
  readonly client: string;
  /** That principal where it was authenticated itself for this. */
  readonly authenticated?: Principal | undefined;
  /** Principal that answers them; absent for outsiders. */
  readonly server: string | undefined;
  readonly context: Context | undefined;
  /** Our id of the task that the observations are about, when it is stored already. */
  readonly task?: string;
  /** Tasks of ours that referenceTaskIds mean, as far as the client may see them. */
  readonly references?: ReadonlyMap<string, string>;
}

export interface Observed extends Recorded {
  /** Where the last observation belongs; absent when it said nothing of a Dialog. */
  readonly dialog: string | undefined;
  readonly activity: string | undefined;
  /** Protocol-local task id → ours, for the tasks observed. */
  readonly tasks: ReadonlyMap<string, string>;
}

export interface Registries {
  readonly participants: Participants;
  readonly mappings: Mappings;
  readonly cases: Cases;
}

/** Observations → assertions, in the caller's write. */
export async function recordObservations(
  deps: Deps,
  registries: Registries,
  writer: StoreWriter,
  observations: readonly Observation[],
  vantage: Vantage,
): Promise<Observed> {
  const { tenant, client, context } = vantage;
  const isPeer = observations.some(({ side }) => side === 'client');
  const observer = { tenant, id: vantage.observer, role: 'caller' } as const;
  const recorder = await Recorder.start(deps, writer, isPeer ? observer : undefined);
  const reading = new Reading(deps, registries, recorder, vantage);
  for (const observation of observations) await reading.take(observation);
  const recorded = await recorder.flush();
  const { dialog, tasks } = reading;
  const { graph } = recorder.workspace;
  const activity = dialog && graph.dialog(dialog)?.activity;
  for (const each of recorded.activities) {
    await registries.cases.touch(writer, each, recorded.seq, {
      tenant,
      owner: context?.owner ?? client,
      ref: context?.ref,
      waits: recorded.waiting.get(each),
      isInitial: dialog !== undefined && graph.activity(each)?.initialDialog === dialog,
    });
  }
  return { ...recorded, dialog, activity, tasks };
}

/** In an envelope: what it is about goes on under the protocol-local id of the message it comes with. */
const bindings: ReadonlySet<string> = new Set(['dialog.bound', 'task.bound']);

class Reading {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #recorder: Recorder;
  readonly #vantage: Vantage;
  readonly tasks = new Map<string, string>();
  /** Parties by what is told of them: as a rule the same in all that is observed at once. */
  readonly #met = new Map<string, string>();
  dialog: string | undefined;

  constructor(deps: Deps, registries: Registries, recorder: Recorder, vantage: Vantage) {
    this.#deps = deps;
    this.#registries = registries;
    this.#recorder = recorder;
    this.#vantage = vantage;
  }

  async take(given: Observation): Promise<void> {
    const { mappings } = this.#registries;
    const { writer, workspace } = this.#recorder;
    const told = this.#ours(given);
    const [client, server] = await this.#parties(told);
    // Who is who is said by now; what one side tells of the other adds nothing.
    const { client: asking, server: answering } = told;
    const seen = { ...told, client: { kind: asking.kind }, server: { kind: answering.kind } };
    const envelope = await this.#envelope(seen, client);
    const place = this.#placeName(seen);
    const mapped = await mappings.find(writer, place);
    const taskId = 'taskId' in seen ? seen.taskId : undefined;
    const task = this.#vantage.task ?? (await this.#taskIn(mapped ?? envelope?.dialog, taskId));
    await workspace.need(task === undefined ? [] : [task]);
    // A stored task stays in its Dialog, even when its context went on in a later one.
    const dialog = workspace.graph.task(task ?? '')?.dialog ?? mapped;
    await this.#load(seen, { dialog, task, envelope });
    const references = await this.#references(seen);
    const resolved = { graph: workspace.graph, dialog, task, client, server, envelope, references };
    const makeId: MakeId = (kind) => this.#deps.ids.make(kind);
    const drafts = interpret(seen, resolved, makeId);
    const source = seen.side === 'server' ? server : client;
    for (const draft of drafts) await this.#recorder.say(draft, source);
    const before = dialog ?? envelope?.dialog;
    await this.#note(seen, { place, isMapped: mapped !== undefined, before }, drafts);
  }

  async #taskIn(dialog: string | undefined, taskId: string | undefined) {
    if (dialog === undefined || taskId === undefined) return undefined;
    return this.#registries.mappings.find(this.#recorder.writer, ['task', dialog, taskId]);
  }

  /** Who is who comes from authentication; what a context is called, from its owner. */
  #ours(seen: Observation): Observation {
    const { client, server, context } = this.#vantage;
    const { principal: _claimed, ...outsider } = seen.server;
    return {
      ...seen,
      contextId: context?.contextId ?? seen.contextId,
      client: { ...seen.client, principal: client },
      server: server === undefined ? outsider : { ...seen.server, principal: server },
    };
  }

  async #parties(seen: Observation): Promise<[client: string, server: string]> {
    const { tenant, observer, authenticated } = this.#vantage;
    const outsider = seen.server.url === undefined && seen.server.principal === undefined;
    const answering = outsider ? { ...seen.server, url: seen.endpoint } : seen.server;
    const self = authenticated?.id === seen.client.principal ? authenticated : undefined;
    const by = { tenant, id: observer };
    const asking = self === undefined ? seen.client : ownParty(self);
    const client = await this.#meet(self ?? by, asking);
    const server = await this.#meet(by, answering);
    await this.#recorder.workspace.need([client, server]);
    return [client, server];
  }

  async #meet(by: { readonly tenant: string; readonly id: string }, party: Party): Promise<string> {
    const told = JSON.stringify([by.id, party]);
    const known = this.#met.get(told);
    if (known !== undefined) return known;
    const id = await meet(this.#recorder, this.#registries.participants, by, party);
    this.#met.set(told, id);
    return id;
  }

  /**
   * What the envelope names counts only when the message's sender takes part in that Dialog and the
   * rest of it fits; otherwise it is as if there were none.
   */
  async #envelope({ envelope, side }: Observation, client: string): Promise<Resolved['envelope']> {
    if (envelope?.dialog === undefined) return undefined;
    const { dialog, task, activity } = envelope;
    const { workspace } = this.#recorder;
    await workspace.need([dialog, ...(task === undefined ? [] : [task])].filter(kindOf));
    const { graph } = workspace;
    const named = graph.dialog(dialog);
    const fits =
      named?.participants.includes(client) === true &&
      (activity === undefined || named.activity === activity) &&
      (task === undefined || graph.task(task)?.dialog === dialog);
    if (!fits) return undefined;
    const anew = envelope.assertions?.filter(({ says }) => bindings.has(says)) ?? [];
    // Whoever asks tells itself where its own work goes on; all others have to say that it does.
    const own = side === 'client' && named?.invoker === client ? [dialog, task] : [];
    const rebinds = [...own.flatMap((id) => id ?? []), ...anew.map(({ about }) => about)];
    return task === undefined ? { dialog, rebinds } : { dialog, task, rebinds };
  }

  #placeName(seen: Observation): LocalName {
    const { tenant, observer, context } = this.#vantage;
    return context === undefined
      ? ['peer', tenant, observer, seen.endpoint, seen.contextId]
      : ['context', seen.protocol, context.ref];
  }

  /** Loads what the observation may touch. */
  async #load(
    seen: Observation,
    found: {
      dialog?: string | undefined;
      task?: string | undefined;
      envelope?: { dialog: string } | undefined;
    },
  ): Promise<void> {
    const { workspace } = this.#recorder;
    const { dialog, task } = found;
    await workspace.need([dialog, task].flatMap((id) => id ?? []));
    const activity = workspace.graph.activityOf(dialog ?? found.envelope?.dialog ?? '');
    const related = seen.envelope?.relationships ?? [];
    const named = related.flatMap(({ from, to }) => [from, to]).filter(kindOf);
    await workspace.need(named);
    const carries =
      seen.kind === 'artifact' || (seen.kind === 'message' && seen.resources.length > 0);
    const resources =
      activity !== undefined && carries ? await workspace.needResources(activity) : [];
    const from = [...resources, ...named, ...(task === undefined ? [] : [task])];
    await workspace.needLineage(from);
  }

  async #references(seen: Observation): Promise<string[]> {
    if (seen.kind !== 'message') return [];
    const known = this.#vantage.references;
    const ids = seen.referenceTaskIds.flatMap((id) => known?.get(id) ?? []);
    await this.#recorder.workspace.need(ids);
    return ids;
  }

  /** Keeps which of our objects the protocol's names mean from now on. */
  async #note(
    seen: Observation,
    {
      place,
      isMapped,
      before,
    }: { place: LocalName; isMapped: boolean; before: string | undefined },
    drafts: readonly DraftInput[],
  ): Promise<void> {
    const { mappings } = this.#registries;
    const { writer, workspace } = this.#recorder;
    const about = (says: string) =>
      drafts.findLast(({ statement }) => statement.says === says)?.about;
    const bound = about('dialog.opened') ?? about('dialog.bound');
    const dialog = bound ?? before;
    if (dialog === undefined || workspace.graph.dialog(dialog) === undefined) return;
    this.dialog = dialog;
    if (bound !== undefined || !isMapped) await mappings.set(writer, place, dialog);
    const taskId = 'taskId' in seen ? seen.taskId : undefined;
    if (taskId === undefined) return;
    const task = await mappings.find(writer, ['task', dialog, taskId]);
    if (task !== undefined) this.tasks.set(taskId, task);
  }
}
