import { z } from 'zod';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import type { Deps } from './deps.ts';
import { Records } from './records.ts';

const labelRecords = new Records('case-label', z.object({ activity: z.string() }), z.object({}));

interface Owned {
  readonly tenant: string;
  readonly owner: string;
}

/** `name=value`, or a name alone for any value. */
export interface WantedLabel {
  readonly name: string;
  readonly value?: string;
}

export function wantedLabel(text: string): WantedLabel {
  const at = text.indexOf('=');
  return at === -1 ? { name: text } : { name: text.slice(0, at), value: text.slice(at + 1) };
}

/** Where cases are found by their labels: blinded, so that the store knows neither name nor value. */
export class CaseLabels {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Makes what is found agree with what is so. */
  async set(
    writer: StoreWriter,
    place: Owned & { activity: string; seq: number },
    name: string,
    value: string | undefined,
  ): Promise<void> {
    const { vault } = this.#deps;
    const { activity, seq } = place;
    const key = vault.blind('label-key', activity, name);
    if (value === undefined) return writer.deleteRecord({ kind: labelRecords.kind, key });
    await labelRecords.put(writer, await vault.caseBoxFor(writer, activity), {
      key,
      sort: seq,
      index: {
        ...this.index(place.tenant, undefined, { name }),
        ...this.index(place.tenant, undefined, { name, value }),
        ...this.index(place.tenant, place.owner, { name }),
        ...this.index(place.tenant, place.owner, { name, value }),
        activity,
      },
      activity,
      shape: { activity },
      content: {},
    });
  }

  /** In a whole tenant, or among one owner's cases. */
  index(
    tenant: string,
    owner: string | undefined,
    { name, value }: WantedLabel,
  ): Record<string, string> {
    const { vault } = this.#deps;
    const whose = owner === undefined ? [tenant] : [tenant, owner];
    const place = owner === undefined ? 'tenant' : 'owner';
    return value === undefined
      ? { [`${place}-name`]: vault.blind(`label-${place}`, ...whose, name) }
      : { [place]: vault.blind(`label-${place}`, ...whose, name, value) };
  }

  async find(
    reader: StoreReader,
    query: {
      index: Record<string, string>;
      limit: number;
      after?: { sort: number; key: string };
    },
  ): Promise<{ activity: string; sort: number; key: string }[]> {
    const found = await reader.records({ kind: labelRecords.kind, ...query });
    return found.map(({ activity = '', sort, key }) => ({ activity, sort, key }));
  }
}
