/** An example in processes of the command line: `serve`, and `agent` for each of its parts. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HubClient } from 'throughline/client';
import { serveModel, type ModelServer } from '../../examples/with-a-model/model-server.ts';
import { leaks } from '../../examples/with-a-model/play.ts';
import type { Play } from '../../examples/world/story.ts';
import type { Random } from '../chaos/random.ts';
import { Service } from './command.ts';
import { atWork, readGiven, readNotes } from './notes.ts';
import { outcomeOf, type Ground, type Outcome } from './outcome.ts';
import { modelUrl, playNamed, type PlayName } from './plays.ts';
import { playing, type Playing, type Role, type Stage, type Victim } from './stage.ts';

const masterId = 'master';
const callerId = 'priya';
/** Milliseconds to wait for who is to be killed to be at work, and how often it is looked. */
export const workMs = 8_000;
export const lookMs = 50;
/** Milliseconds that it is at work when it is killed, at most. */
export const latestMs = 500;
const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export class ServedStage implements Stage {
  readonly weights = [
    ['master', 4],
    ['agent', 4],
    ['hub', 2],
  ] as const;
  readonly folder = mkdtempSync(join(tmpdir(), 'throughline-examples-'));
  protected readonly agents = new Map<string, Service>();
  readonly #name: PlayName;
  readonly #notes = join(this.folder, 'notes.jsonl');
  #play: Play | undefined;
  #model: ModelServer | undefined;
  #hub: Service | undefined;
  #master: Service | undefined;
  #caller = '';

  static async open(name: PlayName): Promise<ServedStage> {
    const stage = new ServedStage(name);
    await stage.start(true);
    return stage;
  }

  protected constructor(name: PlayName) {
    this.#name = name;
  }

  /** @param serves The Master is an agent, too, and waits for requests. */
  protected async start(serves: boolean): Promise<void> {
    try {
      if (this.#name === 'with-a-model') this.#model = await serveModel({});
      this.#play = await playNamed(this.#name, this.env);
      this.#hub = await Service.start(['serve', '--data', this.folder, '--log-level', 'error']);
      const ids = Object.keys(this.played.cast);
      const serving = ids.map(async (id) => [id, await this.#serve('actor.ts', id)] as const);
      for (const [id, agent] of await Promise.all(serving)) this.agents.set(id, agent);
      if (serves) this.#master = await this.#serve('master.ts', masterId);
      const { tenant } = await this.operator.whoAmI();
      const principal = { tenant, id: callerId, role: 'caller' } as const;
      this.#caller = (await this.operator.createKey({ principal })).key;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  protected get played(): Play {
    if (this.#play === undefined) throw new Error('nothing is played yet');
    return this.#play;
  }

  protected get operator(): HubClient {
    return new HubClient({ url: this.hubUrl, key: this.#key('local') });
  }

  protected get hubUrl(): string {
    return this.#hub?.url ?? '';
  }

  protected get env(): NodeJS.ProcessEnv {
    return this.#model === undefined ? {} : { [modelUrl]: this.#model.url };
  }

  get ended(): Promise<never> {
    const all = [this.#hub, this.#master, ...this.agents.values()];
    return Promise.race(all.flatMap((each) => (each === undefined ? [] : [each.ended])));
  }

  async play(): Promise<Playing> {
    const to = { url: this.#master?.url ?? '', key: this.#caller, name: callerId };
    return playing({ ...to, text: this.played.query }, async (taskId, contextId) => {
      const { task } = await this.hubOf(masterId).master().locate(taskId);
      return this.outcomeOf({ runId: task, contextId, master: masterId });
    });
  }

  protected async outcomeOf(
    run: Pick<Ground, 'runId' | 'contextId'> & { readonly master: string },
  ): Promise<Outcome> {
    const asked = this.#model?.asked;
    return outcomeOf({
      ...run,
      operator: this.operator,
      master: this.hubOf(run.master),
      notes: readNotes(this.#notes),
      given: readGiven(this.#notes),
      checks: async (seen) => [
        ...(await this.checks(seen)),
        ...(asked === undefined ? [] : [leaks(asked, seen.given)]),
      ],
    });
  }

  protected checks: Play['checks'] = (seen) => this.played.checks(seen);

  async kill(role: Role, random: Random): Promise<Victim> {
    if (role === 'hub') return killed(this.#hub, { role, name: role, atWork: true });
    if (role === 'master') return this.killMaster(random);
    await this.#untilBusy();
    await sleep(random() * latestMs);
    const busy = atWork(readNotes(this.#notes));
    const among = busy.length > 0 ? busy : [...this.agents.keys()];
    const name = among[Math.floor(random() * among.length)] ?? '';
    return killed(this.agents.get(name), { role, name, atWork: busy.includes(name) });
  }

  /** Between two subtasks no agent is at work. */
  async #untilBusy(): Promise<void> {
    for (let waited = 0; waited < workMs; waited += lookMs) {
      if (atWork(readNotes(this.#notes)).length > 0) return;
      await sleep(lookMs);
    }
  }

  protected killMaster(_random: Random): Promise<Victim> {
    return killed(this.#master, { role: 'master', name: masterId, atWork: true });
  }

  async close(): Promise<void> {
    for (const each of [this.#master, ...this.agents.values(), this.#hub]) await each?.kill();
    await this.#model?.[Symbol.asyncDispose]();
  }

  #serve(file: string, id: string): Promise<Service> {
    const agents = [...this.agents].map(([agent, { url }]) => ({
      id: agent,
      name: agent,
      description: this.played.cast[agent]?.description,
      url,
    }));
    return Service.start(['agent', fileOf(file), '--id', id, '--data', this.folder], {
      ...this.env,
      CHAOS_PLAY: this.#name,
      CHAOS_PART: id,
      CHAOS_NOTES: this.#notes,
      CHAOS_DATA: this.folder,
      CHAOS_AGENTS: JSON.stringify(agents),
    });
  }

  protected hubOf(agent: string): HubClient {
    return new HubClient({ url: this.hubUrl, key: this.#key(`agent-${agent}`) });
  }

  #key(name: string): string {
    return readFileSync(join(this.folder, `${name}.key`), 'utf8').trim();
  }
}

async function killed(service: Service | undefined, victim: Victim): Promise<Victim> {
  await service?.killAndRestart();
  return victim;
}
