import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { World } from './conformance.ts';
import type { AgentHandler, MessageHandler } from './handler.ts';
import type { Ports } from './io.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

const down = (): ThroughlineError => new ThroughlineError('unavailable', 'the hub is away');

const onMessage: MessageHandler = ({ text }) => ({ text });
const read: AgentHandler = async (context, io) => {
  const notes = await io.fetch(context.ContextItems[0]?.ContextID ?? '');
  await io.output('summary', 'text/plain', `${notes.text().length} characters`);
  await io.itemDone('one', 'read');
};

/** Each of these calls fails twice: the hub is away at first, then its answer gets lost. */
function shaky(ports: Ports): Partial<Ports> {
  const tries = new Map<string, number>();
  const shake = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const tried = (tries.get(name) ?? 0) + 1;
    tries.set(name, tried);
    if (tried === 1) throw down();
    const result = await call();
    if (tried === 2) throw down();
    return result;
  };
  return {
    loadTask: (...args) => shake('loadTask', () => ports.loadTask(...args)),
    saveTask: (...args) => shake(`saveTask ${args[1].version}`, () => ports.saveTask(...args)),
    getContent: (...args) => shake('getContent', () => ports.getContent(...args)),
    putOutput: (...args) => shake('putOutput', () => ports.putOutput(...args)),
  };
}

describe('an agent whose hub goes away while it works', () => {
  it('waits for it and goes on: one task, completed once, each output once', async () => {
    const ports = world.ports(shaky(world.ports()));
    const { url } = await world.serve({ handler: read, onMessage, ports });
    const { parts, metadata } = await world.handOver(url, 'Hello, notes.');
    const task = await world.send(url, parts, { metadata });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(world.faults).toEqual([]);
    const { tasks, resources, conflicts } = await world.hub.caseView(world.desk, task.contextId);
    expect(tasks.filter(({ state }) => state === 'completed')).toHaveLength(1);
    expect(resources.filter(({ name }) => name === 'summary')).toHaveLength(1);
    expect(conflicts).toEqual([]);
  });

  it('stops waiting when its task is cancelled', async () => {
    const asked = Promise.withResolvers<void>();
    const ports = world.ports({
      getContent: () => {
        asked.resolve();
        return Promise.reject(down());
      },
    });
    const { url } = await world.serve({ handler: read, onMessage, ports });
    const { parts, metadata } = await world.handOver(url, 'Hello, notes.');
    const sent = world.send(url, parts, { metadata });
    await asked.promise;
    const query = { agent: 'worker', unfinished: true };
    const { tasks } = await world.hub.listTasks({ principal: world.worker }, query);
    const cancelled = await world.call(url, 'CancelTask', { id: tasks[0]?.id });
    expect(cancelled.error).toBeUndefined();
    expect((await sent).status.state).toBe('TASK_STATE_CANCELED');
  });
});
