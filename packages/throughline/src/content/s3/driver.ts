import { AwsClient } from 'aws4fetch';
import { S3mini } from 's3mini';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import {
  checkDelete,
  checkId,
  checkList,
  checkPut,
  closed,
  isObjectId,
  maxObjectBytes,
  tooLong,
  type ContentDriver,
} from '../content.ts';

const callMs = 30_000;
const type = 'application/octet-stream';
/** Keys in one answer of a service. */
const pageSize = 1_000;

const optionsSchema = z.object({
  /** Where the service is; with the bucket as the last part of its path. */
  endpoint: z.url({ protocol: /^https?$/ }),
  /** Begins each key, such as `hub/`. Two hubs on one bucket have two of them. */
  prefix: z
    .string()
    .max(256)
    .regex(
      /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/,
      'a prefix is of plain names, each with a / after it',
    )
    .default(''),
  region: z.string().min(1).max(64).default('auto'),
  accessKeyId: z.string().min(1).max(512),
  secretAccessKey: z.string().min(1).max(512),
  /** Comes with keys that hold for a time. */
  sessionToken: z.string().min(1).max(8_192).exactOptional(),
});
export type S3Options = z.input<typeof optionsSchema>;

class S3Content implements ContentDriver {
  readonly #client: S3mini;
  readonly #endpoint: string;
  readonly #prefix: string;
  #isClosed = false;

  constructor({ prefix, endpoint, region, ...keys }: z.output<typeof optionsSchema>) {
    const signer = new AwsClient({ ...keys, region, service: 's3', retries: 0 });
    this.#client = new S3mini({
      // Without keys it leaves signing to `fetch`: its own knows no token beside them.
      accessKeyId: '',
      secretAccessKey: '',
      endpoint,
      region,
      requestAbortTimeout: callMs,
      fetch: (input, init) => signer.fetch(input, init),
    });
    this.#endpoint = endpoint;
    this.#prefix = prefix;
  }

  async open(): Promise<void> {
    const isThere = await this.#do(() => this.#client.bucketExists());
    if (isThere) return;
    throw new ThroughlineError(
      'unavailable',
      `content: there is no bucket at ${this.#endpoint}, or these credentials may not see it; make it first`,
      { retryable: false },
    );
  }

  async put(id: string, bytes: Uint8Array): Promise<void> {
    checkPut(id, bytes);
    // An id names the same bytes for ever: written twice they are what they were.
    await this.#do(() => this.#client.putObject(this.#prefix + id, bytes, type));
  }

  async get(id: string): Promise<Uint8Array | undefined> {
    checkId(id);
    return this.#do(async () => {
      const response = await this.#client.getObjectResponse(this.#prefix + id);
      if (response === null) return undefined;
      if (!(Number(response.headers.get('content-length') ?? NaN) <= maxObjectBytes)) {
        await response.body?.cancel();
        throw tooLong(id);
      }
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (bytes.length > maxObjectBytes) throw tooLong(id);
      return bytes;
    });
  }

  async delete(ids: readonly string[]): Promise<void> {
    checkDelete(ids);
    await this.#do(async () => {
      if (ids.length === 0) return;
      const deleted = await this.#client.deleteObjects(ids.map((id) => this.#prefix + id));
      if (deleted.includes(false)) throw new Error('some were not deleted');
    });
  }

  async list(after: string, limit: number): Promise<readonly string[]> {
    checkList(after, limit);
    const found: string[] = [];
    for (let from = after, isEnd = false; !isEnd && found.length < limit;) {
      const page = await this.#page(from);
      found.push(...page.filter(isObjectId));
      from = page.at(-1) ?? from;
      isEnd = page.length < pageSize;
    }
    return found.slice(0, limit);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  /** Names behind the prefix, ascending as S3 gives them. */
  async #page(after: string): Promise<string[]> {
    const from = after === '' ? {} : { 'start-after': this.#prefix + after };
    const page = await this.#do(() =>
      this.#client.listObjectsPaged('/', this.#prefix, pageSize, undefined, from),
    );
    return (page?.objects ?? []).map(({ Key }) => Key.slice(this.#prefix.length));
  }

  async #do<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closed();
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof ThroughlineError) throw cause;
      throw new ThroughlineError(
        'unavailable',
        `content: ${this.#endpoint} does not serve this; check its address and the credentials`,
        { cause },
      );
    }
  }
}

/**
 * A bucket of a service that speaks S3; the bucket must be there. Throws `invalid` for options that
 * can't be, `unavailable` where the bucket can't be reached. Bytes are durable as soon as the service
 * has them.
 */
export async function openS3Content(options: S3Options): Promise<ContentDriver> {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success) {
    throw new ThroughlineError('invalid', `content: ${z.prettifyError(parsed.error)}`);
  }
  const content = new S3Content(parsed.data);
  await content.open();
  return content;
}
