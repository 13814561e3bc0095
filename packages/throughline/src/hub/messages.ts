import { z } from 'zod';
import { foreignId, type Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import { Records, type Kept } from './records.ts';

const shapeSchema = z.object({
  ref: z.string(),
  /** Blinded digest of what was sent, and the agent it was sent to. */
  payload: z.string(),
  agent: z.string(),
  /** Until then the process that let it in may still be storing its task. */
  leaseUntil: z.int(),
  /** That process, where it said which it is. */
  worker: z.string().optional(),
  /** What it led to is stored. */
  settled: z.boolean(),
  /** It continues a task that had this version: the next version settles it. */
  after: z.int().optional(),
});
const contentSchema = z.object({
  caller: foreignId,
  contextId: foreignId,
  taskId: foreignId.optional(),
});
export const messageRecords = new Records('message', shapeSchema, contentSchema);

/** A message that was let in: its idempotency key and what became of it. */
export type Message = Kept<z.infer<typeof shapeSchema>, z.infer<typeof contentSchema>>;

interface Arrival {
  readonly agent: string;
  readonly messageId: string;
  readonly payload: string;
}

/** Idempotency keys: (tenant, caller, messageId). They live as long as what they led to. */
export class Messages {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  key(principal: Principal, messageId: string): string {
    return this.#deps.vault.blind('message', principal.tenant, principal.id, messageId);
  }

  get(reader: StoreReader, principal: Principal, messageId: string): Promise<Message | undefined> {
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    return messageRecords.get(reader, boxes.for, this.key(principal, messageId));
  }

  /** The message by which an agent knows it, when the agent comes without its caller's credential. */
  async admittedTo(
    reader: StoreReader,
    agent: Principal,
    contextId: string,
    messageId: string,
  ): Promise<Message | undefined> {
    const index = { admission: this.#admission(agent.tenant, agent.id, contextId, messageId) };
    const query = { index, ascending: true, limit: 8 };
    const boxes = new CaseBoxes(this.#deps.vault, reader);
    const found = await messageRecords.find(reader, boxes.for, query);
    return found.find((message) => !message.shape.settled) ?? found[0];
  }

  /** Whether this is what came under the same key before, to the same agent. */
  same(message: Message, principal: Principal, arrival: Arrival): boolean {
    const { payload, agent } = this.#blinded(principal, arrival);
    return message.shape.payload === payload && message.shape.agent === agent;
  }

  isFor(message: Message, agent: Principal, contextId: string): boolean {
    return (
      message.shape.agent === this.#deps.vault.blind('principal', agent.tenant, agent.id) &&
      message.content?.contextId === contextId
    );
  }

  async keep(
    writer: StoreWriter,
    principal: Principal,
    arrival: Arrival,
    led: {
      ref: string;
      contextId: string;
      taskId?: string | undefined;
      after?: number | undefined;
      worker?: string | undefined;
    },
  ): Promise<void> {
    const { vault, now, leaseMs } = this.#deps;
    const { ref, contextId, taskId, after, worker } = led;
    const at = now().getTime();
    const { principal: byCaller, tenant } = this.countedBy(principal);
    await messageRecords.put(writer, await vault.caseBoxFor(writer, ref), {
      key: this.key(principal, arrival.messageId),
      sort: at,
      activity: ref,
      index: {
        ...byCaller,
        ...tenant,
        context: ref,
        admission: this.#admission(principal.tenant, arrival.agent, contextId, arrival.messageId),
      },
      shape: {
        ref,
        ...this.#blinded(principal, arrival),
        leaseUntil: at + leaseMs,
        settled: false,
        ...(after === undefined ? {} : { after }),
        ...(worker === undefined ? {} : { worker }),
      },
      expiresAt: at + this.#deps.terms.contextTtlMs,
      content: { caller: principal.id, contextId, ...(taskId === undefined ? {} : { taskId }) },
      expected: 0,
    });
  }

  /** The same message came again after its lease ran out: somebody takes it up anew. */
  async renew(writer: StoreWriter, message: Message, worker: string | undefined): Promise<void> {
    const { now, leaseMs, terms } = this.#deps;
    const at = now().getTime();
    const { worker: _before, ...shape } = message.shape;
    const taker = worker === undefined ? {} : { worker };
    const taken = { ...message, shape: { ...shape, ...taker } };
    await this.#put(writer, taken, { leaseUntil: at + leaseMs }, {}, at + terms.contextTtlMs);
  }

  /** Binds the message to the task it led to: it lives as long as that. */
  async settle(writer: StoreWriter, message: Message, taskId: string): Promise<void> {
    await this.#put(writer, message, { settled: true }, { taskId });
  }

  /** Notes that its reply is kept, until the sweeper takes both. */
  async answered(writer: StoreWriter, message: Message, expiresAt?: number): Promise<void> {
    await this.#put(writer, message, { settled: true }, {}, expiresAt);
  }

  /** Blinded values under which messages are counted. */
  countedBy(
    principal: Principal,
  ): Record<'principal' | 'tenant', Readonly<Record<string, string>>> {
    const { vault } = this.#deps;
    return {
      principal: { caller: vault.blind('principal', principal.tenant, principal.id) },
      tenant: { tenant: vault.blind('tenant', principal.tenant) },
    };
  }

  leased(message: Message): boolean {
    return message.shape.leaseUntil > this.#deps.now().getTime();
  }

  async #put(
    writer: StoreWriter,
    message: Message,
    shape: Partial<Message['shape']>,
    content: { taskId?: string },
    expiresAt?: number,
  ): Promise<void> {
    if (message.content === undefined) return;
    const { ref } = message.shape;
    await messageRecords.put(writer, await this.#deps.vault.caseBoxFor(writer, ref), {
      key: message.key,
      sort: message.sort,
      index: message.index,
      activity: ref,
      expiresAt,
      shape: { ...message.shape, ...shape },
      content: { ...message.content, ...content },
      expected: message.version,
    });
  }

  #blinded(principal: Principal, arrival: Arrival): { payload: string; agent: string } {
    const { vault } = this.#deps;
    return {
      payload: vault.blind('payload', arrival.payload),
      agent: vault.blind('principal', principal.tenant, arrival.agent),
    };
  }

  #admission(tenant: string, agent: string, contextId: string, messageId: string): string {
    return this.#deps.vault.blind('admission', tenant, agent, contextId, messageId);
  }
}
