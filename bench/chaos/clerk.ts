/**
 * An agent in a process of its own, to be killed: does as many steps as a message asks for, notes each
 * in a file before it goes on, and puts out one piece a step.
 */
import { fsyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveAgent } from 'throughline/agent';
import { connectAgent } from 'throughline/cli';
import { z } from 'zod';
import type { Effect } from './ledger.ts';
import { contentOf, orderSchema } from './orders.ts';

const settings = z
  .object({
    CHAOS_HUB: z.url(),
    CHAOS_KEY: z.string(),
    CHAOS_PORT: z.coerce.number().int().default(0),
    CHAOS_EFFECTS: z.string(),
  })
  .parse(process.env);
delete process.env['CHAOS_KEY'];

const effects = openSync(settings.CHAOS_EFFECTS, 'a', 0o600);
function note(effect: Omit<Effect, 'at' | 'pid'>): void {
  writeSync(effects, `${JSON.stringify({ ...effect, at: Date.now(), pid: process.pid })}\n`);
  fsyncSync(effects);
}

const { ports } = await connectAgent({ hubUrl: settings.CHAOS_HUB, key: settings.CHAOS_KEY });
const agent = await serveAgent({
  card: {
    name: 'Clerk',
    description: 'Does steps and puts out a piece for each',
    version: '1.0.0',
  },
  ports,
  principal: await ports.authenticate(`Bearer ${settings.CHAOS_KEY}`),
  port: settings.CHAOS_PORT,
  onMessage: async ({ text }, io) => {
    const order = orderSchema.parse(JSON.parse(text));
    const { taskId, resumed, signal } = io;
    note({ kind: 'run', taskId, resumed });
    for (let step = 1; step <= order.steps; step++) {
      await sleep(order.pauseMs, undefined, { signal });
      note({ kind: 'step', taskId, step });
      await io.output(`step ${step}`, 'text/plain', contentOf(order, step));
    }
    return { text: `Did ${order.steps} steps of ${order.name}.` };
  },
  onFault: (error) => process.stderr.write(`${String(error)}\n`),
});
process.once('disconnect', () => process.exit(0));
process.send?.({ kind: 'listening', url: agent.url });
