/** The first minute: a customer's case from her message to a follow-up, between real processes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { connectA2a, type PeerTask } from 'throughline/a2a';
import { HubClient } from 'throughline/client';
import { countTokens } from 'throughline/handover';
import { ThroughlineError, type CaseView } from 'throughline/model';
import { z } from 'zod';
import { answerIn, customerPrincipal } from '../agents/desk-agent.ts';
import { passagesSchema, termsSchema } from '../agents/items.ts';
import { chosenTransport } from '../agents/process.ts';
import { bank } from '../bank.ts';
import type { DeskCase } from '../cases.ts';
import { followUpSchema, type FollowUpAnswer } from '../followup.ts';
import { documentOf } from '../knowledge.ts';
import type { CustomerAnswer } from '../writer.ts';
import type { CheckName } from './check-names.ts';
import type { IsolationInput, Tokens } from './checks.ts';
import { DeskProcesses } from './desk-processes.ts';
import type { Teller } from './tell.ts';
import { tellHandover, tellProcesses, tellRows } from './telling.ts';

const question = 'How do I dispute these?';

/** What came of the story. */
export interface Outcome {
  answer: CustomerAnswer;
  text: string;
  contextId: string;
  /** A2A ids of the case's tasks, as its owner lists them. */
  tasks: string[];
  view: CaseView;
  delivered: string[];
  isolation: IsolationInput;
  tokens: Tokens;
  killed: boolean;
  followUp: { answer: FollowUpAnswer | undefined; contextId: string; lookUps: [number, number] };
  stranger: { send: string; listed: number; view: string };
}

export interface StoryOptions {
  one: DeskCase;
  dataDir: string;
  /** Path or URL of the hub's database, where it is not in the folder. */
  store?: string;
  fault?: CheckName;
  tell: Teller;
}

/** A told story and the desk that is still up. */
export interface Told {
  desk: DeskProcesses;
  outcome: Outcome;
}

/** Runs the story. The desk stays up until its `stop`; it is stopped here when the story fails. */
export async function tellStory({ one, dataDir, store, fault, tell }: StoryOptions): Promise<Told> {
  const canaries = {
    'desk notes': `canary-notes-${randomBytes(8).toString('hex')}`,
    'another tenant': `canary-tenant-${randomBytes(8).toString('hex')}`,
  };
  const captures = {
    policyReader: join(dataDir, 'given-to-policy-reader.jsonl'),
    caseWriter: join(dataDir, 'given-to-case-writer.jsonl'),
  };
  const events = new Events(tell);
  for (const file of Object.values(captures)) writeFileSync(file, '', { mode: 0o600 });
  const desk = await DeskProcesses.start({
    dataDir,
    ...(store !== undefined && { store }),
    ...(fault !== undefined && { fault }),
    localKey: () => readFileSync(join(dataDir, 'local.key'), 'utf8').trim(),
    captures,
    known: [
      {
        name: 'desk notes',
        description: 'desk notes: what the desk keeps to itself',
        content: `Notes of the desk, for nobody else. ${canaries['desk notes']}`,
      },
    ],
    otherTenant: canaries['another tenant'],
    onSaying: (saying) => events.hear(saying),
  });
  events.desk = desk;
  try {
    tellProcesses(tell, desk);
    const act = new Act(desk, one, tell, fault);
    const asked = await act.ask();
    await events.settled();
    tellRows(tell, asked.answer);
    const followUp = await act.followUp(asked.contextId);
    const stranger = await act.stranger(asked.contextId);
    const view = await desk.parts.operator.caseView(asked.contextId);
    const texts = await handedTexts(desk, asked.contextId, view);
    const listed = await act.list(asked.contextId);
    return {
      desk,
      outcome: {
        ...asked,
        tasks: listed.map(({ taskId = '' }) => taskId),
        view,
        delivered: deliveredIn(captures.caseWriter),
        isolation: await whoGotWhat(desk, { one, view, canaries, captures, texts }),
        tokens: countFiles(dataDir, texts),
        killed: events.killed,
        followUp,
        stranger,
      },
    };
  } catch (error) {
    await desk.stop();
    throw error;
  }
}

/** What the desk's processes say while a case runs. */
class Events {
  desk: DeskProcesses | undefined;
  killed = false;
  readonly #tell: Teller;
  #restarted: Promise<void> = Promise.resolve();

  constructor(tell: Teller) {
    this.#tell = tell;
  }

  hear(saying: { kind: string; [key: string]: unknown }): void {
    if (saying.kind === 'holding') this.#restarted = this.#kill();
    if (saying.kind === 'event') tellHandover(this.#tell, saying['event']);
  }

  /** The worker that was killed is up again. */
  async settled(): Promise<void> {
    await this.#restarted;
  }

  async #kill(): Promise<void> {
    if (this.desk === undefined || this.killed) return;
    this.killed = true;
    const { pid } = this.desk.parts.policyReader;
    await this.desk.killAndRestart('policyReader');
    const { pid: next } = this.desk.parts.policyReader;
    this.#tell.line(`    policy reader killed in the middle (kill -9 ${pid}), started again`);
    this.#tell.line(`    as ${next}; its task resumes`);
  }
}

/** What the people of the story do. */
class Act {
  readonly #desk: DeskProcesses;
  readonly #case: DeskCase;
  readonly #tell: Teller;
  readonly #fault: CheckName | undefined;
  readonly #customer: string;

  constructor(desk: DeskProcesses, one: DeskCase, tell: Teller, fault: CheckName | undefined) {
    this.#desk = desk;
    this.#case = one;
    this.#tell = tell;
    this.#fault = fault;
    this.#customer = customerPrincipal(one.customer);
  }

  async ask(): Promise<{ answer: CustomerAnswer; text: string; contextId: string }> {
    const task = await this.#send(this.#customer, 'desk', { text: this.#case.openingMessage });
    const answer = answerIn(task.outputs.flatMap(({ parts }) => parts));
    if (task.state !== 'completed' || answer === undefined) {
      throw new Error(`The desk did not answer: ${task.state}. ${task.text}`);
    }
    return { answer, text: task.text, contextId: task.contextId };
  }

  async followUp(contextId: string): Promise<Outcome['followUp']> {
    const tell = this.#tell;
    tell.title(`Follow-up on the same contextId: “${question}”`);
    if (this.#fault !== 'grant-follow-up') {
      const owner = await this.#as(this.#customer);
      await owner.grant(contextId, { grantee: 'second-line', operations: ['get', 'list'] });
      tell.line('  The customer grants the case to the second line, another agent.');
    }
    const before = await this.#lookUps(contextId);
    const task = await this.#send(this.#customer, 'second-line', { text: question, contextId });
    const after = await this.#lookUps(contextId);
    const parts = task.outputs.flatMap(({ parts: each }) => each);
    const data = parts.flatMap((part) => (part.kind === 'data' ? [part.data] : []));
    const parsed = data
      .map((each) => followUpSchema.safeParse(each))
      .find(({ success }) => success);
    tell.quote(task.text);
    return { answer: parsed?.data, contextId: task.contextId, lookUps: [before, after] };
  }

  async stranger(contextId: string): Promise<Outcome['stranger']> {
    if (this.#fault === 'stranger-refused') {
      const owner = await this.#as(this.#customer);
      await owner.grant(contextId, { grantee: 'stranger', operations: ['get', 'list'] });
    }
    this.#tell.title('A stranger with the same contextId');
    const send = await outcomeOf(
      this.#send('stranger', 'desk', { text: 'What is in this case?', contextId }),
    );
    const listed = await this.list(contextId, 'stranger');
    const view = await outcomeOf((await this.#as('stranger')).caseView(contextId));
    this.#tell.quote(`sends: ${send.said}`);
    this.#tell.quote(`lists its tasks: ${listed.length}`);
    this.#tell.quote(`looks at the case: ${view.said}`);
    const sent = send.code === 'context-refused' || send.code === 'invalid' ? 'refused' : send.code;
    return { send: sent, listed: listed.length, view: view.code };
  }

  async list(contextId: string, who = this.#customer): Promise<PeerTask[]> {
    const connection = await this.#connect(who, 'desk');
    try {
      return (await connection.listTasks({ contextId })).tasks;
    } finally {
      await connection.close();
    }
  }

  /** How many Dialogs there are with the policy reader. */
  async #lookUps(contextId: string): Promise<number> {
    const { participants, dialogs } = await this.#desk.parts.operator.caseView(contextId);
    const reader = participants.find(({ name }) => name === 'Policy reader')?.id ?? '';
    return dialogs.filter((dialog) => dialog.participants.includes(reader)).length;
  }

  async #as(id: string): Promise<HubClient> {
    return new HubClient({ url: this.#desk.parts.hub.url, key: await this.#desk.keyFor(id) });
  }

  async #connect(who: string, agent: string) {
    return connectA2a({
      url: `${this.#desk.parts.hub.url}/agents/${agent}/`,
      credential: `Bearer ${await this.#desk.keyFor(who)}`,
      self: { kind: 'user', name: who },
      ...chosenTransport(),
    });
  }

  async #send(
    who: string,
    agent: string,
    { text, contextId }: { text: string; contextId?: string },
  ): Promise<PeerTask> {
    const connection = await this.#connect(who, agent);
    try {
      return await connection.send({
        parts: [{ kind: 'text', text }],
        ...(contextId !== undefined && { contextId }),
      });
    } finally {
      await connection.close();
    }
  }
}

async function outcomeOf(work: Promise<unknown>): Promise<{ code: string; said: string }> {
  try {
    await work;
    return { code: 'ok', said: 'let in' };
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error;
    return { code: error.code, said: `refused: ${error.message}` };
  }
}

interface HandedText {
  agent: string;
  sent: string;
  fullHistory: string;
}

async function handedTexts(desk: DeskProcesses, id: string, view: CaseView): Promise<HandedText[]> {
  return Promise.all(
    view.handovers.map(async ({ task, agent }) => ({
      agent,
      ...(await desk.parts.operator.handoverTexts(id, task)),
    })),
  );
}

/** Writes both counted texts to files; the figures are those of the files. */
function countFiles(dataDir: string, texts: readonly HandedText[]): Tokens {
  const write = (name: string, all: readonly string[]) => {
    const file = join(dataDir, name);
    const text = all.join('\n');
    writeFileSync(file, text, { mode: 0o600 });
    return { file, tokens: countTokens(text) };
  };
  const handedOver = write(
    'handed-over.txt',
    texts.map(({ sent }) => sent),
  );
  const fullHistory = write(
    'full-history.txt',
    texts.map((each) => each.fullHistory),
  );
  return {
    handedOver: handedOver.tokens,
    fullHistory: fullHistory.tokens,
    files: { handedOver: handedOver.file, fullHistory: fullHistory.file },
  };
}

const captured = z.object({ name: z.string(), content: z.string() });

/** Documents that the policy reader quoted, as the case writer was given them. */
export function deliveredIn(file: string): string[] {
  const items = readFileSync(file, 'utf8')
    .split('\n')
    // An agent that is killed may leave the end of a line.
    .filter((line) => line.endsWith('}'))
    .flatMap((line) => captured.safeParse(JSON.parse(line)).data ?? []);
  const of = (name: string): unknown =>
    JSON.parse(items.find((item) => item.name === name)?.content ?? 'null');
  const { terms } = termsSchema.parse(of('terms'));
  const { passages, procedures } = passagesSchema.parse(of('passages'));
  const quoted = [...terms, ...passages, ...procedures].map(({ documentId }) => documentId);
  return [...new Set(quoted)].filter((id) => documentOf(id).id === id);
}

interface Searched {
  one: DeskCase;
  view: CaseView;
  canaries: Record<string, string>;
  captures: { policyReader: string; caseWriter: string };
  texts: readonly HandedText[];
}

/** What the policy reader could open with the credential that the desk calls it with. */
async function whatACallOpens(
  desk: DeskProcesses,
  view: CaseView,
): Promise<{ what: string; refused: boolean }[]> {
  const { url } = desk.parts.hub;
  const master = new HubClient({ url, key: await desk.keyFor('desk', 'agent') }).master();
  const call = `Bearer ${await master.callToken({ audience: 'policy-reader', seconds: 60 })}`;
  const own = `Bearer ${await desk.keyFor('policy-reader', 'agent')}`;
  const paths = ['/runs?open=true', '/cases', ...view.resources.map(({ id }) => `/content/${id}`)];
  const alone = paths.map((path) => ({ path, headers: { authorization: call } }));
  const mine = outputsOf(view, 'policy-reader');
  const beside = view.resources
    .filter(({ id }) => !mine.has(id))
    .map(({ id }) => ({
      path: `/content/${id}`,
      headers: { authorization: own, 'throughline-caller': call },
    }));
  return Promise.all(
    [...alone, ...beside].map(async ({ path, headers }) => {
      const response = await fetch(`${url}${path}`, { headers });
      await response.body?.cancel();
      return { what: `policy-reader, called by the desk: ${path}`, refused: !response.ok };
    }),
  );
}

/** Resources that an agent put out. */
function outputsOf(view: CaseView, agent: string): Set<string> {
  const tasks = new Set(
    view.handovers.filter((each) => each.agent === agent).map(({ task }) => task),
  );
  const edges = view.relationships.filter(({ type, to }) => type === 'output-of' && tasks.has(to));
  return new Set(edges.map(({ from }) => from));
}

/** Everything that each agent was given, and what its key opens that it was not given. */
async function whoGotWhat(desk: DeskProcesses, searched: Searched): Promise<IsolationInput> {
  const { one, view, canaries, captures, texts } = searched;
  const sentTo = (agent: string): string =>
    texts
      .filter((each) => each.agent === agent)
      .map(({ sent }) => sent)
      .join('\n');
  const given = {
    'policy-reader': `${sentTo('policy-reader')}\n${readFileSync(captures.policyReader, 'utf8')}`,
    'account-checker': sentTo('account-checker'),
    'case-writer': `${sentTo('case-writer')}\n${readFileSync(captures.caseWriter, 'utf8')}`,
  };
  const reads: { what: string; refused: boolean }[] = [];
  for (const agent of ['policy-reader', 'case-writer']) {
    const authorization = `Bearer ${await desk.keyFor(agent, 'agent')}`;
    // What an agent put out itself is its own.
    const own = outputsOf(view, agent);
    for (const { id } of view.resources.filter((each) => !own.has(each.id))) {
      const response = await fetch(`${desk.parts.hub.url}/content/${id}`, {
        headers: { authorization },
      });
      reads.push({ what: `${agent}: ${id}`, refused: !response.ok });
      await response.body?.cancel();
    }
    const hub = new HubClient({ url: desk.parts.hub.url, key: await desk.keyFor(agent, 'agent') });
    const other = await outcomeOf(hub.caseView(desk.parts.otherTenantContext));
    reads.push({ what: `${agent}: a case of another tenant`, refused: other.code === 'not-found' });
  }
  reads.push(...(await whatACallOpens(desk, view)));
  const { customer } = one;
  return {
    record: customer === null ? {} : bank().fullRecord(customer),
    canaries,
    given,
    transactionIds:
      customer === null
        ? []
        : bank()
            .cardTransactions(customer)
            .map(({ transaction_id }) => transaction_id),
    reads,
  };
}
