import { createHash, randomUUID } from 'node:crypto';
import type { Hub } from 'throughline/hub';
import type { DraftInput, Observation, Principal, TaskRecord } from 'throughline/model';

const of = (id: string, role: Principal['role']): Principal => ({ tenant: 'shop', id, role });

export const boss = of('boss', 'operator');
const desk = of('desk', 'agent');
/** Cases of one person; so many whatever the size. */
export const casesEach = 8;
const agents = 12;
export const personOf = (n: number): Principal => of(`person-${n}`, 'caller');

/** Subtasks of a case: most have a few, one in so many is large. */
const usual = 3;
const oneIn = 500;
const large = 150;

const words = ['cash back', 'card', 'refund', 'address', 'transfer', 'limit', 'statement', 'fee'];
const wordOf = (n: number): string => words[n % words.length] ?? '';

/** Cases as a desk has them: a message, its task, and what was handed to other agents and came back. */
export class Workload {
  readonly #hub: Hub;
  readonly #met = new Map<string, Promise<string>>();
  #cases = 0;

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  /** Makes one whole case, about 50 assertions; every 500th has some 1,800. */
  async makeCase(): Promise<void> {
    const n = this.#cases++;
    const owner = personOf(Math.floor(n / casesEach));
    const isLarge = n % oneIn === oneIn - 1;
    const task = await this.#begin(owner, `${wordOf(n)} of ${n % 97} looks wrong`);
    const place = await this.#hub.master(desk).locate(task.record.id);
    let before: string | undefined;
    for (let i = 0; i < (isLarge ? large : usual); i++) {
      before = await this.#handOver(
        place,
        `${wordOf(n + i)} ${i}`,
        `agent-${(n + i) % agents}`,
        before,
      );
    }
    await this.#end(owner, task);
  }

  async #begin(owner: Principal, objective: string) {
    const messageId = randomUUID();
    const payload = digestOf(objective);
    const asked = { agent: desk.id, messageId, referenceTaskIds: [], payload };
    const { contextId } = await this.#hub.admit({ principal: owner, via: desk }, asked);
    const record: TaskRecord = {
      id: randomUUID(),
      contextId,
      agent: desk.id,
      version: 0,
      state: 'in-progress',
      statusAt: new Date().toISOString(),
      messageId,
      body: { history: [objective] },
    };
    const seen = observed(owner, record, objective);
    const { version } = await this.#hub.saveTask({ principal: owner, via: desk }, record, seen);
    return { record: { ...record, version }, objective };
  }

  /** One Dialog of its own with an agent: what it got, that it did it, what came of it. */
  async #handOver(
    place: { activity: string; dialog: string; task: string },
    objective: string,
    agent: string,
    before: string | undefined,
  ): Promise<string> {
    const master = this.#hub.master(desk);
    const [self, other] = [await this.#meet(desk.id), await this.#meet(agent)];
    const [dialog, task] = [master.newId('dialog'), master.newId('task')];
    const [input, output] = [master.newId('resource'), master.newId('resource')];
    const { activity } = place;
    const edge = (type: Edge, from: string, to: string): DraftInput => ({
      about: master.newId('relationship'),
      statement: { says: 'relationship.asserted', type, from, to },
    });
    const resource = (about: string, name: string): DraftInput => ({
      about,
      statement: {
        says: 'resource.known',
        activity,
        name,
        mediaType: 'text/plain',
        size: 2_000,
        digest: digestOf(about),
      },
    });
    await master.assert([
      {
        about: dialog,
        statement: {
          says: 'dialog.opened',
          activity,
          participants: [self, other],
          objective,
          managed: 'ours',
        },
      },
      edge('delegated-from', dialog, place.dialog),
      { about: task, statement: { says: 'task.defined', dialog, objective } },
      edge('delegated-from', task, place.task),
      resource(input, `what ${objective} needs`),
      edge('input-to', input, task),
      { about: task, statement: { says: 'task.state', state: 'in-progress' } },
    ]);
    await master.assert([
      resource(output, `what came of ${objective}`),
      edge('output-of', output, task),
      edge('derived-from', output, input),
      ...(before === undefined ? [] : [edge('derived-from', input, before)]),
      { about: task, statement: { says: 'task.state', state: 'completed', outcome: 'ok' } },
      {
        about: dialog,
        statement: { says: 'dialog.state', state: 'terminated', reason: 'completed' },
      },
    ]);
    return output;
  }

  /** A Master knows its agents. */
  #meet(agent: string): Promise<string> {
    const party = { kind: 'agent', principal: agent, name: agent } as const;
    const met = this.#met.get(agent) ?? this.#hub.master(desk).participant(party);
    this.#met.set(agent, met);
    return met;
  }

  async #end(owner: Principal, { record, objective }: { record: TaskRecord; objective: string }) {
    const ended: TaskRecord = { ...record, state: 'completed', statusAt: new Date().toISOString() };
    const seen = observed(owner, ended, objective).filter(({ kind }) => kind === 'task');
    await this.#hub.saveTask({ principal: owner, via: desk }, ended, seen);
  }
}

type Edge = 'delegated-from' | 'input-to' | 'output-of' | 'derived-from';

const digestOf = (text: string): string =>
  `sha-256:${createHash('sha256').update(text).digest('hex')}`;

function observed(owner: Principal, record: TaskRecord, objective: string): Observation[] {
  const { contextId, id: taskId, messageId = '', state } = record;
  const where = {
    protocol: 'a2a',
    side: 'server',
    endpoint: 'https://hub.example/agents/desk/',
    contextId,
    client: { kind: 'user', principal: owner.id, name: owner.id },
    server: { kind: 'agent', principal: desk.id, name: 'desk' },
    at: record.statusAt,
  } as const;
  return [
    {
      ...where,
      kind: 'message',
      messageId,
      taskId,
      objective,
      referenceTaskIds: [],
      resources: [],
    },
    { ...where, kind: 'task', taskId, objective, state },
  ];
}
