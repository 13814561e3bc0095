import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentAccessKey } from '../model/content.ts';
import { usageLimit } from '../model/usage.ts';
import { Beside } from './beside.ts';
import { World } from './conformance.ts';

let world: World;

beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

describe('figures beside a returned AgentContext', () => {
  it('are summed by model', () => {
    const beside = new Beside();
    beside.spent({ model: 'm/1', inputTokens: 10, outputTokens: 1 });
    beside.spent({ model: 'm/2', inputTokens: 5, outputTokens: 0 });
    beside.spent({ model: 'm/1', inputTokens: 3, outputTokens: 2 });
    expect(beside.metadata()).toEqual({
      usage: [
        { model: 'm/1', inputTokens: 13, outputTokens: 3 },
        { model: 'm/2', inputTokens: 5, outputTokens: 0 },
      ],
    });
    expect(new Beside().metadata()).toEqual({});
  });

  it('are whole tokens of a bounded number of models', () => {
    const beside = new Beside();
    const spent = (model: string, inputTokens: number) => () =>
      beside.spent({ model, inputTokens, outputTokens: 0 });
    for (const tokens of [-1, 0.5, Number.NaN, 2 ** 60]) {
      expect(spent('m', tokens)).toThrow(expect.objectContaining({ code: 'invalid' }));
    }
    for (let at = 0; at < usageLimit; at++) spent(`m/${at}`, 1)();
    expect(spent('m/one-more', 1)).toThrow(expect.objectContaining({ code: 'invalid' }));
    spent('m/0', 1)();
  });

  it('go back also from a handler that failed', async () => {
    const { url } = await world.serve({
      onMessage: ({ text }) => ({ text }),
      handler: (_, io) => {
        io.spent({ model: 'm/1', inputTokens: 7, outputTokens: 2 });
        throw new Error('no more');
      },
    });
    const { parts, metadata } = await world.handOver(url, 'x');
    const task = await world.send(url, parts, { metadata });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    const returned = task.artifacts?.find(({ artifactId }) => artifactId === 'agent-context');
    expect(returned?.parts[0]).toMatchObject({
      metadata: {
        [contentAccessKey]: { usage: [{ model: 'm/1', inputTokens: 7, outputTokens: 2 }] },
      },
    });
  });
});
