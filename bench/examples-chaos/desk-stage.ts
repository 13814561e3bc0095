/** The support desk in its own processes: the Master lives in the hub's. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HubClient } from 'throughline/client';
import { createMaster } from 'throughline/master';
import { customerPrincipal } from '../../examples/support-desk/agents/desk-agent.ts';
import { deskCase } from '../../examples/support-desk/cases.ts';
import {
  citationsVerbatim,
  fourWrongTransactions,
} from '../../examples/support-desk/story/checks.ts';
import { DeskProcesses } from '../../examples/support-desk/story/desk-processes.ts';
import { deliveredIn } from '../../examples/support-desk/story/story.ts';
import { customerAnswerSchema } from '../../examples/support-desk/writer.ts';
import type { Random } from '../chaos/random.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { playing, type Playing, type Role, type Stage, type Victim } from './stage.ts';

const one = deskCase('task_019');
/** The account checker is somebody else's: it is not killed, since it keeps nothing. */
const ours = { 'policy-reader': 'policyReader', 'case-writer': 'caseWriter' } as const;
const isOurs = (id: string): id is keyof typeof ours => id in ours;

export class DeskStage implements Stage {
  readonly weights = [
    ['master', 6],
    ['agent', 4],
  ] as const;
  readonly folder = mkdtempSync(join(tmpdir(), 'throughline-examples-'));
  readonly #captures = {
    policyReader: join(this.folder, 'given-to-policy-reader.jsonl'),
    caseWriter: join(this.folder, 'given-to-case-writer.jsonl'),
  };
  #desk: DeskProcesses | undefined;

  static async open(): Promise<DeskStage> {
    const stage = new DeskStage();
    for (const file of Object.values(stage.#captures)) writeFileSync(file, '', { mode: 0o600 });
    stage.#desk = await DeskProcesses.start({
      dataDir: stage.folder,
      localKey: () => readFileSync(join(stage.folder, 'local.key'), 'utf8').trim(),
      captures: stage.#captures,
      known: [],
      otherTenant: 'A case of another bank.',
      onSaying: () => undefined,
    });
    // The policy reader of the story waits until it is killed; here it shall work.
    await stage.#desk.killAndRestart('policyReader');
    return stage;
  }

  get #running(): DeskProcesses {
    if (this.#desk === undefined) throw new Error('The desk is not up yet');
    return this.#desk;
  }

  get ended(): Promise<never> {
    return this.#running.parts.hub.ended;
  }

  async play(): Promise<Playing> {
    const customer = customerPrincipal(one.customer);
    const { hub } = this.#running.parts;
    const key = await this.#running.keyFor(customer);
    return playing(
      { url: `${hub.url}/agents/desk/`, key, name: customer, text: one.openingMessage },
      (taskId, contextId) => this.#outcomeOf(taskId, contextId),
    );
  }

  async kill(role: Role, random: Random): Promise<Victim> {
    if (role === 'master') {
      await this.#running.killAndRestartHub();
      return { role, name: 'hub with the desk', atWork: true };
    }
    const busy = (await this.#atWork()).filter(isOurs);
    const among = busy.length > 0 ? busy : Object.keys(ours).filter(isOurs);
    const name = among[Math.floor(random() * among.length)] ?? 'policy-reader';
    await this.#running.killAndRestart(ours[name]);
    return { role, name, atWork: busy.includes(name) };
  }

  async close(): Promise<void> {
    await this.#desk?.stop();
  }

  async #master() {
    const { url } = this.#running.parts.hub;
    return new HubClient({ url, key: await this.#running.keyFor('desk', 'agent') });
  }

  async #atWork(): Promise<string[]> {
    const client = await this.#master();
    const principal = await client.whoAmI();
    const ports = client.master();
    const master = createMaster({ ports, a2a: client, principal, name: 'Looks on', agents: [] });
    const busy: string[] = [];
    for (const run of await master.openRuns()) {
      const { subtasks } = await master.status(run);
      const running = subtasks.filter(({ status }) => status === 'running');
      busy.push(...running.flatMap(({ attempts }) => attempts.at(-1)?.agent ?? []));
    }
    return busy;
  }

  async #outcomeOf(taskId: string, contextId: string): Promise<Outcome> {
    const master = await this.#master();
    const { task } = await master.master().locate(taskId);
    return outcomeOf({
      operator: this.#running.parts.operator,
      master,
      runId: task,
      contextId,
      notes: [],
      given: [],
      checks: async ({ output }) => {
        const answer = customerAnswerSchema.parse(JSON.parse(await output('answer')));
        return [
          fourWrongTransactions(one.id, answer),
          citationsVerbatim(answer, deliveredIn(this.#captures.caseWriter)),
        ];
      },
    });
  }
}
