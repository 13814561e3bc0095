import { ThroughlineError } from '../errors.ts';
import {
  foreignId,
  grantRequestSchema,
  idSchema,
  type Grant,
  type GrantRequest,
  type Principal,
} from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { authorize } from './authorize.ts';
import { CaseBoxes } from './case-boxes.ts';
import { guarded, type Context, type Contexts } from './contexts.ts';
import type { Deps } from './deps.ts';
import {
  grantRecords,
  maxGrantsOnContext,
  maxGrantsToPrincipal,
  toGrant,
} from './grant-records.ts';
import type { Quotas } from './quotas.ts';
import { contextRefused, notFound, parse } from './refusals.ts';

/** What owners let others do in their contexts. A grantee can't grant on. */
export class Grants {
  readonly #deps: Deps;
  readonly #contexts: Contexts;
  readonly #quotas: Quotas;

  constructor(deps: Deps, contexts: Contexts, quotas: Quotas) {
    this.#quotas = quotas;
    this.#deps = deps;
    this.#contexts = contexts;
  }

  /**
   * The grant's `contextId` is what the grantee sends: the issued id, or a handle for an adopted one.
   * `context-refused` for a context that the principal may not grant on.
   */
  async give(by: Principal, contextId: string, request: GrantRequest): Promise<Grant> {
    const { store, vault, ids, now } = this.#deps;
    const { grantee, operations, fromSequence, expiresAt } = parse(
      grantRequestSchema,
      request,
      'grant request',
    );
    const expires = expiresAt === undefined ? undefined : Date.parse(expiresAt);
    if (expires !== undefined && expires <= now().getTime()) {
      throw new ThroughlineError('invalid', 'expiresAt: is over already; give a time to come');
    }
    return store.write(async (writer) => {
      const context = await this.#open(writer, by, contextId);
      if (grantee === context.owner) {
        throw new ThroughlineError('invalid', 'grantee: owns the context already');
      }
      const index = {
        context: context.ref,
        grantee: vault.blind('principal', by.tenant, grantee),
        revoked: 'no',
        giver: vault.blind('principal', by.tenant, by.id),
        tenant: vault.blind('tenant', by.tenant),
      };
      await this.#within(writer, index);
      await this.#quotas.check(writer, 'grants', by);
      const record = {
        key: ids.make('grant'),
        sort: now().getTime(),
        index,
        activity: context.ref,
        shape: {
          ref: context.ref,
          operations: [...new Set(operations)],
          fromSequence,
          revoked: false,
          ...(expires === undefined ? {} : { expires }),
        },
        content: { tenant: by.tenant, grantee, grantedBy: by.id },
        expiresAt: expires,
        expected: 0,
      };
      const box = await vault.caseBoxFor(writer, context.ref);
      const version = await grantRecords.put(writer, box, record);
      const [grant] = toGrant({ ...record, version });
      if (grant === undefined) throw new ThroughlineError('internal', 'the grant has no content');
      return grant;
    });
  }

  async list(by: Principal, contextId: string): Promise<Grant[]> {
    const { store, vault } = this.#deps;
    return store.read(async (reader) => {
      const context = await this.#open(reader, by, contextId);
      const query = { index: { context: context.ref }, limit: maxGrantsToPrincipal };
      const boxes = new CaseBoxes(vault, reader);
      return (await grantRecords.find(reader, boxes.for, query)).flatMap(toGrant);
    });
  }

  /** From then on it opens nothing; what the grantee made stays the grantee's. */
  async revoke(by: Principal, grantId: string): Promise<void> {
    const { store, vault } = this.#deps;
    const refusal = () => notFound('grant', grantId);
    if (!idSchema('grant').safeParse(grantId).success) throw refusal();
    await store.write(async (writer) => {
      const boxes = new CaseBoxes(vault, writer);
      const found = await grantRecords.look(writer, boxes, grantId);
      const context = await this.#contexts.byRef(writer, by, found?.shape.ref);
      authorize(by, 'grant', context && guarded(context), refusal);
      if (found?.content === undefined || found.shape.revoked) return;
      const { ref } = found.shape;
      const { grantee = '' } = found.index;
      await grantRecords.put(writer, await vault.caseBoxFor(writer, ref), {
        key: grantId,
        activity: ref,
        sort: found.sort,
        index: { context: ref, grantee, revoked: 'yes' },
        shape: { ...found.shape, revoked: true },
        content: found.content,
      });
    });
  }

  async #open(reader: StoreReader, by: Principal, contextId: string): Promise<Context> {
    const id = parse(foreignId, contextId, 'contextId');
    const context = await this.#contexts.lookup(reader, by, id);
    const open = context?.expired === true ? undefined : context;
    authorize(by, 'grant', open && guarded(open), () => contextRefused(id));
    if (open === undefined) throw contextRefused(id);
    return open;
  }

  async #within(reader: StoreReader, index: Record<'context' | 'grantee' | 'revoked', string>) {
    const { context, grantee, revoked } = index;
    const here = await grantRecords.count(reader, { context, grantee });
    const all = await grantRecords.count(reader, { grantee, revoked });
    if (here >= maxGrantsOnContext || all >= maxGrantsToPrincipal) {
      throw new ThroughlineError(
        'quota',
        `a principal holds at most ${maxGrantsToPrincipal} grants, ${maxGrantsOnContext} on one context; revoke what is no longer needed`,
      );
    }
  }
}
