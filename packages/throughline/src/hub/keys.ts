import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  foreignId,
  idSchema,
  keyRequestSchema,
  principalSchema,
  shortText,
  type KeyRequest,
  type KeySummary,
  type MadeKey,
  type Principal,
} from '../model/index.ts';
import type { StoreWriter } from '../store/store.ts';
import { authorize } from './authorize.ts';
import type { Deps } from './deps.ts';
import type { Random } from './ids.ts';
import type { Quotas } from './quotas.ts';
import { Records, type Kept } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { sameText } from './vault.ts';

const prefix = 'tlk_';
const secretBytes = 32;
const credentialForm = /^Bearer (tlk_[A-Za-z0-9_-]{43})$/;
const maxKeys = 1_000;

const shapeSchema = z.object({ hash: z.string(), createdAt: z.int(), revoked: z.boolean() });
const contentSchema = z.object({ principal: principalSchema, label: shortText.exactOptional() });
export const keyRecords = new Records('key', shapeSchema, contentSchema, { remember: 256 });
type KeyRecord = Kept<z.infer<typeof shapeSchema>, z.infer<typeof contentSchema>>;

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const unauthenticated = () =>
  new ThroughlineError(
    'unauthenticated',
    'no valid key came with the call; send "Authorization: Bearer" with a key of this hub',
  );

/** API keys: who calls. Only their SHA-256 is kept. */
export class Keys {
  readonly #deps: Deps;
  readonly #random: Random;
  readonly #quotas: Quotas;

  constructor(deps: Deps, random: Random, quotas: Quotas) {
    this.#deps = deps;
    this.#quotas = quotas;
    this.#random = random;
  }

  /** Value of an Authorization header → principal; `unauthenticated` for all else. */
  async authenticate(credential: string | undefined): Promise<Principal> {
    return (await this.#find(credential)).principal;
  }

  /** Which key it is; `unauthenticated` for all that is none. */
  async idOf(credential: string | undefined): Promise<string> {
    return (await this.#find(credential)).id;
  }

  async #find(credential: string | undefined): Promise<{ id: string; principal: Principal }> {
    const key = credentialForm.exec(credential ?? '')?.[1];
    if (key === undefined) throw unauthenticated();
    const hash = hashOf(key);
    const { store, vault } = this.#deps;
    const [found] = await store.read((reader) =>
      keyRecords.find(reader, vault.domain, { index: { hash }, limit: 1 }),
    );
    if (found?.content === undefined || found.shape.revoked || !sameText(found.shape.hash, hash)) {
      throw unauthenticated();
    }
    return { id: found.key, principal: found.content.principal };
  }

  /** Operators make keys for principals of their own tenant. */
  async create(by: Principal, request: KeyRequest): Promise<MadeKey> {
    const { principal, label } = parse(keyRequestSchema, request, 'key request');
    authorize(by, 'administer', { tenant: principal.tenant }, () =>
      notFound('tenant', principal.tenant),
    );
    return this.#write(principal, label, (writer) => this.#quotas.check(writer, 'keys', principal));
  }

  /** A key without anyone's leave: for whoever owns the data folder, at first start. */
  async bootstrap(principal: Principal): Promise<string> {
    const { key } = await this.#write(parse(principalSchema, principal, 'principal'), 'bootstrap');
    return key;
  }

  async list(by: Principal): Promise<KeySummary[]> {
    authorize(by, 'administer', { tenant: by.tenant }, () => notFound('list', 'keys'));
    const { store, vault } = this.#deps;
    const index = { tenant: vault.blind('tenant', by.tenant) };
    const found = await store.read((reader) =>
      keyRecords.find(reader, vault.domain, { index, limit: maxKeys }),
    );
    return found.flatMap(toInfo);
  }

  /** From then on the key authenticates nobody. */
  async revoke(by: Principal, id: string): Promise<void> {
    const refusal = () => notFound('key', id);
    if (!idSchema('key').safeParse(id).success) throw refusal();
    const { store, vault } = this.#deps;
    await store.write(async (writer) => {
      const found = await keyRecords.get(writer, vault.domain, id);
      const tenant = found?.content?.principal.tenant;
      authorize(by, 'administer', tenant === undefined ? undefined : { tenant }, refusal);
      if (found?.content === undefined || found.shape.revoked) return;
      const { key, sort, content } = found;
      const { hash = '', tenant: ours = '' } = found.index;
      const index = { hash, tenant: ours };
      const shape = { ...found.shape, revoked: true };
      await keyRecords.put(writer, vault.domain, { key, sort, index, shape, content });
    });
  }

  async #write(
    principal: Principal,
    label?: string,
    check?: (writer: StoreWriter) => Promise<void>,
  ): Promise<MadeKey> {
    const { store, vault, ids, now } = this.#deps;
    const id = ids.make('key');
    const key = prefix + Buffer.from(this.#random(secretBytes)).toString('base64url');
    const hash = hashOf(key);
    const createdAt = now().getTime();
    const tenant = vault.blind('tenant', foreignId.parse(principal.tenant));
    const holder = vault.blind('principal', principal.tenant, principal.id);
    await store.write(async (writer) => {
      await check?.(writer);
      if ((await keyRecords.count(writer, { tenant })) >= maxKeys) {
        throw new ThroughlineError(
          'quota',
          `a tenant has at most ${maxKeys} keys, revoked ones included`,
        );
      }
      await keyRecords.put(writer, vault.domain, {
        key: id,
        sort: createdAt,
        index: { hash, tenant, holder, valid: tenant },
        shape: { hash, createdAt, revoked: false },
        content: { principal, ...(label === undefined ? {} : { label }) },
        expected: 0,
      });
    });
    return { id, key };
  }
}

function toInfo({ key: id, shape, content }: KeyRecord): KeySummary[] {
  if (content === undefined) return [];
  const { principal, label } = content;
  const createdAt = new Date(shape.createdAt).toISOString();
  const info = { id, principal, createdAt, revoked: shape.revoked };
  return [label === undefined ? info : { ...info, label }];
}
