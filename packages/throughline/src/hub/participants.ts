import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import type { Party, Principal } from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { Deps } from './deps.ts';
import { Records } from './records.ts';

const participantRecords = new Records(
  'participant',
  /** `settled`: it said itself what it is. */
  z.object({ id: z.string(), settled: z.boolean().optional() }),
  z.object({}),
);
const partRecords = new Records('part', z.object({}), z.object({}));

/** Which Participant stands for a principal or an outsider's URL, and who takes part in what. */
export class Participants {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** One per principal, or per URL for outsiders, in each tenant; undefined when nobody met it yet. */
  async find(reader: StoreReader, tenant: string, party: Party): Promise<string | undefined> {
    const key = this.#key(tenant, party);
    return (await participantRecords.get(reader, this.#deps.vault.domain, key))?.shape.id;
  }

  of(reader: StoreReader, principal: Principal): Promise<string | undefined> {
    return this.find(reader, principal.tenant, { kind: 'agent', principal: principal.id });
  }

  /** The same, given an id when it has none yet. What it is must then be stated. */
  async identify(writer: StoreWriter, tenant: string, party: Party): Promise<string> {
    const known = await this.find(writer, tenant, party);
    if (known !== undefined) return known;
    const { vault, ids } = this.#deps;
    const id = ids.make('participant');
    await participantRecords.put(writer, vault.domain, {
      key: this.#key(tenant, party),
      index: { member: this.#member(tenant, id) },
      shape: { id },
      content: {},
      expected: 0,
    });
    return id;
  }

  /** Keeps one that has its id already; a party that is known here stays what it is. */
  async restore(writer: StoreWriter, tenant: string, id: string, party?: Party): Promise<void> {
    const { vault } = this.#deps;
    const named = party === undefined ? undefined : this.#key(tenant, party);
    const isTaken =
      named !== undefined &&
      (await participantRecords.get(writer, vault.domain, named)) !== undefined;
    const key =
      named === undefined || isTaken ? vault.blind('participant', tenant, 'id', id) : named;
    if (await this.isOf(writer, tenant, id)) return;
    const index = { member: this.#member(tenant, id) };
    await participantRecords.put(writer, vault.domain, { key, index, shape: { id }, content: {} });
  }

  /** The same of one that tells what it is itself; `isFirst` when it never did before. */
  async settle(
    writer: StoreWriter,
    tenant: string,
    party: Party,
  ): Promise<{ id: string; isFirst: boolean }> {
    const { vault, ids } = this.#deps;
    const key = this.#key(tenant, party);
    const known = (await participantRecords.get(writer, vault.domain, key))?.shape;
    if (known?.settled === true) return { id: known.id, isFirst: false };
    const id = known?.id ?? ids.make('participant');
    await participantRecords.put(writer, vault.domain, {
      key,
      index: { member: this.#member(tenant, id) },
      shape: { id, settled: true },
      content: {},
    });
    return { id, isFirst: true };
  }

  /** Whether a Participant's id belongs to this tenant. */
  async isOf(reader: StoreReader, tenant: string, id: string): Promise<boolean> {
    return (await participantRecords.count(reader, { member: this.#member(tenant, id) })) > 0;
  }

  async takesPart(
    reader: StoreReader,
    activity: string,
    participant: string | undefined,
  ): Promise<boolean> {
    if (participant === undefined) return false;
    const key = { kind: partRecords.kind, key: `${activity}/${participant}` };
    return (await reader.record(key)) !== undefined;
  }

  /** Activities that a Participant takes part in, in no order that means anything. */
  async casesOf(
    reader: StoreReader,
    participant: string,
    page: { limit: number; after?: { sort: number; key: string } },
  ): Promise<{ activity: string; sort: number; key: string }[]> {
    const found = await reader.records({ kind: partRecords.kind, index: { participant }, ...page });
    return found.map(({ key, sort }) => ({ activity: key.split('/')[0] ?? '', sort, key }));
  }

  /** Takes it out of an Activity; true when it is in none any more. */
  async leave(writer: StoreWriter, activity: string, participant: string): Promise<boolean> {
    await writer.deleteRecord({ kind: partRecords.kind, key: `${activity}/${participant}` });
    return (await writer.count({ kind: partRecords.kind, index: { participant } })) === 0;
  }

  #member(tenant: string, id: string): string {
    return this.#deps.vault.blind('member', tenant, id);
  }

  #key(tenant: string, { principal, url }: Party): string {
    const { vault } = this.#deps;
    if (principal !== undefined) return vault.blind('participant', tenant, 'principal', principal);
    if (url !== undefined) return vault.blind('participant', tenant, 'url', url);
    throw new ThroughlineError('invalid', 'party: needs a principal or a url to be told apart by');
  }
}

/** Notes that Participants take part in an Activity. */
export async function takePart(
  { vault }: Deps,
  writer: StoreWriter,
  activity: string,
  participants: readonly string[],
): Promise<void> {
  for (const participant of participants) {
    const key = `${activity}/${participant}`;
    if ((await writer.record({ kind: partRecords.kind, key })) !== undefined) continue;
    const index = { participant };
    await partRecords.put(writer, vault.domain, {
      key,
      index,
      shape: {},
      content: {},
      expected: 0,
    });
  }
}
