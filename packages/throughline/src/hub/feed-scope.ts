import type { Principal } from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { caseRecords } from './case-records.ts';
import type { Deps } from './deps.ts';
import { grantedContexts } from './grant-records.ts';

/** Cases whose owners are remembered. */
const kept = 10_000;

/** In blinded values, which never change. */
interface Whose {
  readonly tenant: string | undefined;
  readonly owner: string | undefined;
  readonly context: string | undefined;
}

/**
 * Which cases can concern a principal at all, so that those of others cost a reader next to nothing. It
 * decides nothing: rights to what is left are looked at after.
 */
export class FeedScope {
  readonly #deps: Deps;
  readonly #known = new Map<string, Whose>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async of(
    reader: StoreReader,
    principal: Principal,
    activities: Iterable<string>,
  ): Promise<readonly string[]> {
    const { vault, now } = this.#deps;
    const { tenant, id, role } = principal;
    const [ours, mine] = [vault.blind('tenant', tenant), vault.blind('principal', tenant, id)];
    const found: string[] = [];
    let granted: ReadonlySet<string> | undefined;
    for (const activity of activities) {
      const whose = await this.#whose(reader, activity);
      if (whose?.tenant !== ours) continue;
      if (role !== 'operator' && whose.owner !== mine) {
        if (whose.context === undefined) continue;
        const at = now().getTime();
        granted ??= new Set((await grantedContexts(reader, vault, principal, at)).keys());
        if (!granted.has(whose.context)) continue;
      }
      found.push(activity);
    }
    return found;
  }

  async #whose(reader: StoreReader, activity: string): Promise<Whose | undefined> {
    const known = this.#known.get(activity);
    if (known !== undefined) return known;
    const record = await reader.record({ kind: caseRecords.kind, key: activity });
    if (record === undefined) return undefined;
    const { tenant, owner, context } = record.index;
    const whose = { tenant, owner, context };
    // Without its own context yet, it may come to one.
    if (context === undefined) return whose;
    if (this.#known.size >= kept) this.#known.clear();
    this.#known.set(activity, whose);
    return whose;
  }
}
