import { Client, types, type ClientConfig, type QueryResultRow } from 'pg';
import { ThroughlineError } from '../../errors.ts';
import { isEnd, lost } from './errors.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly connectTimeoutMs: number;
  /** Longest that one statement may take. */
  readonly statementTimeoutMs: number;
  /** Longest wait for what another connection holds. */
  readonly lockTimeoutMs: number;
}

/** What hears of things that no statement asked for. */
export interface Hooks {
  readonly notified?: (payload: string) => void;
  readonly ended?: () => void;
}

export type Value = string | number | readonly string[] | null;

const int8 = types.builtins.INT8;

/** The driver gives 64-bit integers as text; all of ours fit a number, or the store is damaged. */
function integer(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new ThroughlineError(
    'damaged',
    'the store holds an integer past 2^53; restore it from a backup',
  );
}

const parsers: ClientConfig['types'] = {
  getTypeParser: (oid, format) => (oid === int8 ? integer : types.getTypeParser(oid, format)),
};

/**
 * Every question of ours goes along an index, one row or a short list at a time; plans are made once
 * and must not turn to scanning because a table was small when its statement came first.
 */
const settings = `
  set search_path = throughline, pg_temp;
  set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;
  set plan_cache_mode = force_generic_plan; set jit = off;
  select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') = 'off'`;

/** How much longer the answer to a statement may be on its way than the server may take for it. */
const networkMs = 5_000;

/** Statement → name under which a connection has it prepared. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `s${names.size}`));
  return name;
}

/** One connection. Statements are sent at once and answered in order; once lost it stays lost. */
export class Connection {
  readonly #client: Client;
  #alive = true;

  private constructor(client: Client, hooks: Hooks) {
    this.#client = client;
    client.on('error', () => this.destroy());
    client.on('end', () => {
      this.#alive = false;
      hooks.ended?.();
    });
    client.on('notification', ({ payload }) => hooks.notified?.(payload ?? ''));
  }

  static async open(options: ConnectionOptions, hooks: Hooks = {}): Promise<Connection> {
    const { statementTimeoutMs, lockTimeoutMs } = options;
    const client = new Client({
      connectionString: options.url,
      application_name: 'throughline',
      connectionTimeoutMillis: options.connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + networkMs,
      lock_timeout: lockTimeoutMs,
      // One that stands still in a transaction, its process stopped, must not hold up the others.
      idle_in_transaction_session_timeout: lockTimeoutMs,
      keepAlive: true,
      pipeline: true,
      types: parsers,
    });
    const connection = new Connection(client, hooks);
    try {
      await client.connect();
      await client.query(settings);
      return connection;
    } catch (error) {
      connection.destroy();
      throw lost(error);
    }
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Rows of a prepared statement. */
  async rows<Row extends QueryResultRow>(text: string, values: Value[] = []): Promise<Row[]> {
    const query = { name: nameOf(text), text, values };
    const { rows } = await this.#guarded(this.#client.query<Row>(query));
    return rows;
  }

  /** Runs statements without values as they are; gives the rows of the last one. */
  async run<Row extends QueryResultRow>(text: string): Promise<Row[]> {
    const result = await this.#guarded(this.#client.query<Row>(text));
    // Of several statements there are several results, which the types do not say.
    const last: typeof result = Array.isArray(result) ? result.at(-1) : result;
    return last.rows;
  }

  /** Details of what the server remarks while `task` goes on. */
  async remarks(task: () => Promise<unknown>): Promise<readonly string[]> {
    const details: string[] = [];
    const hear = ({ detail }: { detail?: string | undefined }): void => {
      if (detail !== undefined) details.push(detail);
    };
    this.#client.on('notice', hear);
    try {
      await task();
    } finally {
      this.#client.off('notice', hear);
    }
    return details;
  }

  destroy(): void {
    this.#alive = false;
    // What waits for an answer is refused by this; nobody waits for the farewell.
    this.#client.end().catch(() => {});
    this.#client.connection.stream.destroy();
  }

  async end(): Promise<void> {
    if (!this.#alive) return;
    this.#alive = false;
    await this.#client.end();
  }

  async #guarded<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (isEnd(error)) this.destroy();
      throw lost(error);
    }
  }
}

/** A connection that is made when it is needed, and again after it was lost. */
export class Session {
  readonly #options: ConnectionOptions;
  readonly #hooks: Hooks;
  #connection: Connection | undefined;

  /** May begin with a connection that is there. */
  constructor(options: ConnectionOptions, hooks: Hooks = {}, connection?: Connection) {
    this.#options = options;
    this.#hooks = hooks;
    this.#connection = connection;
  }

  async connected(): Promise<Connection> {
    if (this.#connection?.alive !== true) {
      this.#connection = await Connection.open(this.#options, this.#hooks);
    }
    return this.#connection;
  }

  async end(): Promise<void> {
    await this.#connection?.end();
  }
}
