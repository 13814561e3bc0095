import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContentRef } from '../model/content.ts';
import type { RunReport } from '../model/run.ts';
import { done, offered, reference, referring, World, type Behaviour } from './conformance.ts';
import { createMaster } from './master.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

/** A run, and so a case, of its own with one subtask for an agent. */
async function run(agent: string): Promise<RunReport> {
  const master = createMaster({
    ports: world.hub.master(world.desk),
    a2a: world.hub,
    principal: world.desk,
    name: 'Desk',
    agents: world.agents,
    retryMs: 5,
  });
  const taskId = await world.request('Is it right?');
  const subtask = {
    id: 'look',
    name: 'Look it up',
    agent,
    needs: ['terms'],
    todo: [{ id: 'one', description: 'Look' }],
    criteria: [{ id: 'found', description: 'It is found' }],
    attempts: 1,
  };
  return master.run({
    taskId,
    query: 'Right?',
    workflow: { name: 'C', subtasks: [subtask] },
    offered,
  });
}

/** Puts out nothing of its own, and claims that this is its output. */
const claiming =
  (ref: () => ContentRef | undefined): Behaviour =>
  ({ context, artifact }) => {
    const claimed = ref();
    if (claimed === undefined) return undefined;
    artifact('found', reference('found', claimed), referring('found', claimed));
    return done(context, ['found']);
  };

describe('an output by reference', () => {
  it('is what that very task put out: not what the Master may read besides, of any case', async () => {
    let first: ContentRef | undefined;
    await world.aciAgent('reader', async ({ context, output }) => {
      first = await output('found', 'what Alice was told');
      return done(context, ['found']);
    });
    await world.aciAgent(
      'thief',
      claiming(() => first),
    );
    expect((await run('reader')).status).toBe('completed');
    const stolen = await run('thief');
    expect(stolen.status).toBe('failed');
    expect(stolen.subtasks[0]?.attempts[0]?.reason).toBe(
      'Output found refers to what is not its own.',
    );
    expect(stolen.subtasks[0]?.outputs).toEqual([]);
  });

  it('is nothing that the Master keeps itself', async () => {
    const master = world.hub.master(world.desk);
    await world.aciAgent('reader', async ({ context, output }) => {
      await output('found', 'x');
      return done(context, ['found']);
    });
    const { requestTask } = await run('reader');
    const { activity } = await master.locate(requestTask);
    const kept = await master.putContent({
      activity,
      resource: master.newId('resource'),
      mediaType: 'text/plain',
      bytes: Buffer.from('for nobody'),
    });
    await world.aciAgent(
      'thief',
      claiming(() => kept),
    );
    expect((await run('thief')).status).toBe('failed');
  });
});
