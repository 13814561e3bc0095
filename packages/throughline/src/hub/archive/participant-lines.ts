import { idKind } from '../../model/index.ts';
import { CaseBoxes } from '../case-boxes.ts';
import type { Deps } from '../deps.ts';
import { decodeObject } from '../graph-codec.ts';
import type { Registries } from '../observing.ts';
import { participantsIn } from './entry-line.ts';
import type { Line, LineOf } from './lines.ts';

/** Who the Participants in an export stand for, as far as its own lines name them. */
export class ParticipantLines {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #tenant: string;
  readonly #ids = new Set<string>();
  readonly #principals = new Set<string>();

  constructor(deps: Deps, parts: { registries: Registries }, tenant: string) {
    this.#deps = deps;
    this.#registries = parts.registries;
    this.#tenant = tenant;
  }

  note(line: Line): void {
    if (line.kind === 'entry') {
      for (const id of [line.about, ...participantsIn(line.shape)]) {
        if (idKind(id) === 'participant') this.#ids.add(id);
      }
    }
    if (line.kind !== 'context' && line.kind !== 'task') return;
    this.#principals.add(line.owner).add(line.agent);
  }

  async *lines(): AsyncGenerator<LineOf<'participant'>> {
    const named = new Map<string, string>();
    for (const principal of this.#principals) {
      const id = await this.#find({ principal });
      if (id !== undefined) named.set(id, principal);
    }
    for (const id of [...this.#ids].toSorted()) yield this.#line(id, named.get(id));
  }

  async #line(id: string, principal: string | undefined): Promise<LineOf<'participant'>> {
    const line = { kind: 'participant', id, tenant: this.#tenant } as const;
    if (principal !== undefined) return { ...line, principal };
    const { name, url } = await this.#known(id);
    if (name !== undefined && (await this.#find({ principal: name })) === id) {
      return { ...line, principal: name };
    }
    if (url !== undefined && (await this.#find({ url })) === id) return { ...line, url };
    return line;
  }

  #known(id: string): Promise<{ name?: string | undefined; url?: string | undefined }> {
    const { store, vault } = this.#deps;
    return store.read(async (reader) => {
      const [stored] = await reader.objects([id]);
      if (stored === undefined) return {};
      const { object } = decodeObject(stored, await new CaseBoxes(vault, reader).of(id));
      return object.kind === 'participant' ? object.value : {};
    });
  }

  #find(by: { principal: string } | { url: string }): Promise<string | undefined> {
    return this.#deps.store.read((reader) =>
      this.#registries.participants.find(reader, this.#tenant, { kind: 'agent', ...by }),
    );
  }
}
