/**
 * An agent in a process of its own, to be killed: tells its parent for whom it works, and with HOLD
 * set works for ever.
 */
import { connectAgent } from 'throughline/cli';
import { serveAgent } from 'throughline/agent';
import { z } from 'zod';

const settings = z
  .object({
    HUB: z.url(),
    KEY: z.string(),
    PORT: z.coerce.number().int().default(0),
    HOLD: z.string().optional(),
  })
  .parse(process.env);

const { ports } = await connectAgent({ hubUrl: settings.HUB, key: settings.KEY });
const agent = await serveAgent({
  card: { name: 'Mortal', description: 'Dies when asked', version: '1.0.0' },
  ports,
  principal: await ports.authenticate(`Bearer ${settings.KEY}`),
  port: settings.PORT,
  onMessage: async ({ text, messageId }, io) => {
    const { caller, contextId, taskId, resumed } = io;
    const work = { caller, contextId, taskId, messageId, text };
    await io.output('work', 'application/json', JSON.stringify(work));
    process.send?.({ kind: 'working', resumed, work });
    if (settings.HOLD !== undefined) await new Promise(() => undefined);
    return { text: `Done for ${caller.id}.` };
  },
});
process.once('disconnect', () => process.exit(0));
process.send?.({ kind: 'listening', url: agent.url });
