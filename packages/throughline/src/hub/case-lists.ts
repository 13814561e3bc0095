import { z } from 'zod';
import {
  caseQuerySchema,
  idKind,
  type Activity,
  type CasePage,
  type CaseQuery,
  type CaseSummary,
  type Principal,
} from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import type { CaseAccess, OpenCase } from './case-access.ts';
import { rootOf, visible } from './case-graph.ts';
import { wantedLabel, type CaseLabels } from './case-labels.ts';
import { mayWait } from './case-records.ts';
import { summarize, waitedFor } from './case-summary.ts';
import { Cursors } from './cursor.ts';
import type { Deps } from './deps.ts';
import { grantedContexts } from './grant-records.ts';
import type { Registries } from './observing.ts';
import { parse } from './refusals.ts';
import { Workspace } from './workspace.ts';

/** Cases that one page of a search looks at; the next page goes on behind them. */
const looked = 500;
/** The same where each is opened as a whole. */
const lookedInto = 100;
/** Of those, how many are read at a time. */
const together = 50;
/** Cases of a page that are opened side by side. */
const abreast = 10;

type Query = z.output<typeof caseQuerySchema>;
const placeSchema = z.object({ sort: z.int(), key: z.string() });
type Place = z.infer<typeof placeSchema>;
/** A case that may be in the list, and where the walk stands after it. */
interface Candidate extends Place {
  readonly activity: string;
}

/**
 * Lists of cases, latest change first, and the search among them. Labels and participants are found by
 * blinded values; words are looked for in what is opened, a bounded number of cases a page, so that the
 * store holds no index of what people wrote.
 */
export class CaseLists {
  readonly #deps: Deps;
  readonly #access: CaseAccess;
  readonly #registries: Registries;
  readonly #labels: CaseLabels;
  readonly #cursors: Cursors<Place>;

  constructor(
    deps: Deps,
    parts: {
      access: CaseAccess;
      registries: Registries;
      labels: CaseLabels;
    },
  ) {
    this.#deps = deps;
    this.#access = parts.access;
    this.#registries = parts.registries;
    this.#labels = parts.labels;
    this.#cursors = new Cursors(deps.vault.box('case-cursor'), placeSchema);
  }

  list(principal: Principal, given: CaseQuery): Promise<CasePage> {
    return this.#deps.store.read((reader) => this.listIn(reader, principal, given));
  }

  /** The same, as of the moment that a reader sees. */
  async listIn(reader: StoreReader, principal: Principal, given: CaseQuery): Promise<CasePage> {
    const query = parse(caseQuerySchema, given, 'query');
    const { cursor, pageSize, text, label, participant, stuck = false } = query;
    const { tenant, id, role } = principal;
    const bound = [tenant, id, role, text, label, participant, stuck];
    const after = cursor === undefined ? undefined : this.#cursors.open(bound, cursor);
    const filters = stuck || [text, label, participant].some((each) => each !== undefined);
    const limit = stuck ? lookedInto : filters ? looked : pageSize + 1;
    const candidates = await this.#candidates(reader, principal, query, { after, limit });
    const fits = await this.#filter(reader, principal, query, candidates);
    const show = async ({ activity }: Candidate): Promise<CaseSummary[]> => {
      const open = await this.#access.find(reader, principal, activity);
      if (open === undefined || (open.from > 0 && !(await fits(open)))) return [];
      if (stuck && !mayWait(open.record)) return [];
      const summary = await this.#summary(reader, principal, open);
      return stuck && summary.stuck === 0 ? [] : [summary];
    };
    const cases: CaseSummary[] = [];
    const ahead = candidates.slice(0, filters ? limit : pageSize);
    let last: Place | undefined;
    while (ahead.length > 0 && cases.length < pageSize) {
      const room = Math.min(abreast, pageSize - cases.length);
      const some: Candidate[] = [];
      while (ahead.length > 0 && some.length < room) {
        const [candidate] = ahead.splice(0, 1);
        if (candidate === undefined) break;
        last = { sort: candidate.sort, key: candidate.key };
        // Few fit and most may be seen, so that rights are read of what fits alone.
        if (await fits({ ...candidate, from: 0 })) some.push(candidate);
      }
      cases.push(...(await Promise.all(some.map(show))).flat());
    }
    const final = candidates.at(-1);
    const isEnd = last === undefined || (last.key === final?.key && candidates.length < limit);
    return isEnd || last === undefined
      ? { cases }
      : { cases, cursor: this.#cursors.seal(bound, last) };
  }

  /** In the order of the walk, at most so many; rights are looked at later. */
  async #candidates(
    reader: StoreReader,
    principal: Principal,
    { label, participant, stuck = false }: Query,
    { after, limit }: { after: Place | undefined; limit: number },
  ): Promise<Candidate[]> {
    const page = { limit, ...(after && { after }) };
    const { tenant, id } = principal;
    const isOperator = principal.role === 'operator';
    const granted = isOperator ? [] : await this.#granted(reader, principal, after);
    if (label !== undefined) {
      const index = this.#labels.index(tenant, isOperator ? undefined : id, wantedLabel(label));
      const found = await this.#labels.find(reader, { index, ...page });
      return inWalk([...found, ...granted], limit);
    }
    const { participants, cases } = this.#registries;
    if (participant !== undefined) {
      const prt = await this.#participant(reader, tenant, participant);
      return prt === undefined ? [] : participants.casesOf(reader, prt, page);
    }
    const { vault } = this.#deps;
    const index = {
      // First, since those are few.
      ...(stuck ? cases.waitsIn(tenant) : {}),
      ...(isOperator
        ? { tenant: vault.blind('tenant', tenant) }
        : { owner: vault.blind('principal', tenant, id) }),
    };
    const own = await cases.find(reader, { index, ...page });
    return inWalk([...own.map(toCandidate), ...granted], limit);
  }

  async #granted(
    reader: StoreReader,
    principal: Principal,
    after: Place | undefined,
  ): Promise<Candidate[]> {
    const { vault, now } = this.#deps;
    const granted = await grantedContexts(reader, vault, principal, now().getTime());
    const found: Candidate[] = [];
    for (const [ref, operations] of granted) {
      if (!operations.has('get')) continue;
      const query = { index: { context: ref }, limit: 8, ...(after && { after }) };
      found.push(...(await this.#registries.cases.find(reader, query)).map(toCandidate));
    }
    return found;
  }

  async #filter(
    reader: StoreReader,
    { tenant }: Principal,
    { text, label, participant }: Query,
    candidates: readonly Candidate[],
  ): Promise<(shown: Pick<OpenCase, 'activity' | 'from'>) => Promise<boolean>> {
    const { participants } = this.#registries;
    const prt =
      participant === undefined ? undefined : await this.#participant(reader, tenant, participant);
    const words = new Workspace(this.#deps.vault, reader);
    return async ({ activity, from }) => {
      if (participant !== undefined && !(await participants.takesPart(reader, activity, prt))) {
        return false;
      }
      if (text === undefined && label === undefined) return true;
      if (words.graph.activity(activity) === undefined) {
        const at = candidates.findIndex((each) => each.activity === activity);
        const some = candidates.slice(at, at + together);
        await words.needAlone(some.map((each) => each.activity));
      }
      const found = rootOf(words, { activity, from });
      return hasLabel(found, label) && hasWords(found, text);
    };
  }

  async #participant(
    reader: StoreReader,
    tenant: string,
    given: string,
  ): Promise<string | undefined> {
    if (idKind(given) === 'participant') return given;
    const { participants } = this.#registries;
    const kind = 'agent';
    return (
      (await participants.find(reader, tenant, { kind, principal: given })) ??
      participants.find(reader, tenant, { kind, url: given })
    );
  }

  async #summary(reader: StoreReader, principal: Principal, open: OpenCase): Promise<CaseSummary> {
    const { vault } = this.#deps;
    const { activity } = open;
    const shapes = new Workspace(vault, reader, 'shapes');
    const words = new Workspace(vault, reader);
    const needRoot = async (): Promise<void> => {
      await words.needAlone([activity]);
      const initial = words.graph.activity(activity)?.initialDialog;
      if (initial !== undefined) await words.needAlone([initial]);
    };
    await Promise.all([shapes.needCase(activity), needRoot()]);
    const graph = visible(shapes, open);
    const told = visible(words, open);
    // Who is seen in the case may be seen by name.
    await words.needAlone(waitedFor(graph));
    return summarize({ principal, open, graph, words: told, people: words.graph });
  }
}

const toCandidate = ({ key, sort }: Place): Candidate => ({ activity: key, key, sort });

function inWalk(candidates: readonly Candidate[], limit: number): Candidate[] {
  const each = new Map(candidates.map((candidate) => [candidate.activity, candidate]));
  return [...each.values()]
    .toSorted((a, b) => b.sort - a.sort || (a.key < b.key ? 1 : a.key > b.key ? -1 : 0))
    .slice(0, limit);
}

function hasLabel(activity: Activity | undefined, label: string | undefined): boolean {
  if (label === undefined) return true;
  const { name, value } = wantedLabel(label);
  const found = new Map(Object.entries(activity?.labels ?? {})).get(name);
  return found !== undefined && (value === undefined || found === value);
}

const plain = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Each word stands somewhere in what the case is about or filed under. */
function hasWords(activity: Activity | undefined, text: string | undefined): boolean {
  if (text === undefined) return true;
  const labels = Object.values(activity?.labels ?? {});
  const told = plain([activity?.objective ?? '', ...labels].join(' '));
  return plain(text)
    .split(/\s+/)
    .every((word) => told.includes(word));
}
