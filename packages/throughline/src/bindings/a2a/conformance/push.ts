import { ThroughlineError } from '../../../errors.ts';
import type { Caller } from '../../../model/principal.ts';
import type { PushConfig } from '../../../model/push-config.ts';
import type { MemoryPorts } from '../conformance.ts';
import type { PushPorts } from '../ports.ts';
import type { PushSender } from '../push-sender.ts';
import { isFinal } from '../wire.ts';

/** Push configs beside tasks in memory, as the comments of the port say; for tests. */
export class MemoryPush implements PushPorts {
  readonly #tasks: MemoryPorts;
  configs: readonly (PushConfig & { owner: string; settled: boolean })[] = [];

  constructor(tasks: MemoryPorts) {
    this.#tasks = tasks;
    tasks.keepPush = (caller, config) => this.#keep(caller, config);
  }

  async savePushConfig(caller: Caller, config: PushConfig): Promise<void> {
    await this.#visible(caller, config.taskId);
    this.#keep(caller, config);
  }

  #keep(caller: Caller, config: PushConfig): void {
    const owner = caller.principal.id;
    const others = this.configs.filter(
      (each) => each.taskId !== config.taskId || each.owner !== owner || each.id !== config.id,
    );
    this.configs = [...others, { ...config, owner, settled: false }];
  }

  async loadPushConfigs(
    caller: Caller,
    { taskId }: { taskId?: string },
  ): Promise<readonly PushConfig[]> {
    const isAgent = caller.principal.role === 'agent';
    if (taskId !== undefined) await this.#visible(caller, taskId);
    const found = this.configs.filter((each) =>
      taskId === undefined
        ? isAgent &&
          !each.settled &&
          isFinal(this.#tasks.records.get(each.taskId) ?? { state: 'defined' })
        : each.taskId === taskId && (isAgent || each.owner === caller.principal.id),
    );
    return found.map(({ settled: _settled, ...config }) => config);
  }

  async deletePushConfig(caller: Caller, taskId: string, id: string): Promise<void> {
    await this.#visible(caller, taskId);
    const { id: owner } = caller.principal;
    this.configs = this.configs.filter(
      (each) => each.taskId !== taskId || each.owner !== owner || each.id !== id,
    );
  }

  settlePushConfig(
    _caller: Caller,
    { taskId, id, owner }: { taskId: string; id: string; owner: string },
  ): Promise<void> {
    this.configs = this.configs.map((each) =>
      each.taskId === taskId && each.id === id && each.owner === owner
        ? { ...each, settled: true }
        : each,
    );
    return Promise.resolve();
  }

  async #visible(caller: Caller, taskId: string): Promise<void> {
    if ((await this.#tasks.loadTask(caller, taskId)) === undefined) {
      throw new ThroughlineError('not-found', `task ${taskId} is not there`);
    }
  }
}

export interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
}

/** A sender that keeps what it is given and answers as a test says; `http:` URLs are refused. */
export class MemorySender implements PushSender {
  readonly sent: Sent[] = [];
  answer: (url: string, count: number) => number | Promise<number> = () => 200;
  #waiting: (() => void)[] = [];

  check(url: string): void {
    if (!url.startsWith('https://')) {
      throw new ThroughlineError('invalid', 'a URL may not be called: it is not https');
    }
  }

  async send(request: Parameters<PushSender['send']>[0]): Promise<{ status: number }> {
    this.check(request.url);
    const { url, headers, body } = request;
    this.sent.push({ url, headers, body: JSON.parse(body) });
    for (const wake of this.#waiting.splice(0)) wake();
    return { status: await this.answer(url, this.sent.length) };
  }

  /** Resolves once so many were sent. */
  async count(wanted: number): Promise<void> {
    while (this.sent.length < wanted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
