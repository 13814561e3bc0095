import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import type { AgentExecutionEvent, ServerCallContext, TaskStore } from '@a2a-js/sdk/server';

/** Updates of one burst, at most: readers take so many at a time. */
const longest = 16;

/** Updates that are stored in one write. */
export interface Burst<Turn> {
  readonly turn: Turn | undefined;
  readonly events: AgentExecutionEvent[];
}

type State = NonNullable<Task['status']>['state'];

/**
 * Puts together what is published while the write before it is under way: up to the first update that moves
 * the task to another state, so that every state is stored by itself.
 */
export class Bursts<Turn> {
  #open: Burst<Turn> | undefined;
  #state: State | undefined;
  #mayGrow = false;

  /** `state`: of the task as it is stored. */
  constructor(state: State | undefined) {
    this.#state = state;
  }

  /** The burst that the event begins; undefined where it goes with the one that waits still. */
  take(event: AgentExecutionEvent, turn: Turn | undefined): Burst<Turn> | undefined {
    const waits = this.#open;
    const isUpdate = event.kind === 'artifactUpdate' || event.kind === 'statusUpdate';
    const joins = isUpdate && this.#mayGrow && waits?.turn === turn;
    const isMoving = event.kind === 'statusUpdate' || event.kind === 'task';
    const state = (isMoving ? event.data.status?.state : undefined) ?? this.#state;
    this.#mayGrow = isUpdate && state === this.#state;
    this.#state = state;
    if (joins && waits !== undefined && waits.events.length < longest) {
      waits.events.push(event);
      return undefined;
    }
    this.#open = { turn, events: [event] };
    return this.#open;
  }

  /** Nothing more goes with that one, or with any. */
  close(burst: Burst<Turn> | undefined = this.#open): void {
    if (this.#open === burst) this.#open = undefined;
  }
}

/** A store that keeps changes of one task back until they are all made. */
export class HeldStore implements TaskStore {
  readonly #store: TaskStore;
  #held: Task | undefined;

  constructor(store: TaskStore) {
    this.#store = store;
  }

  async load(taskId: string, context: ServerCallContext): Promise<Task | undefined> {
    return this.#held?.id === taskId ? this.#held : this.#store.load(taskId, context);
  }

  save(task: Task): Promise<void> {
    this.#held = task;
    return Promise.resolve();
  }

  list(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return this.#store.list(params, context);
  }

  /** Makes changes and writes them in one; where something fails, none of them is there any more. */
  async together(context: ServerCallContext, change: () => Promise<void>): Promise<void> {
    try {
      await change();
      if (this.#held !== undefined) await this.#store.save(this.#held, context);
    } finally {
      this.#held = undefined;
    }
  }
}
