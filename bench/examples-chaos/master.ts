/** The Master of an example, for `throughline agent`: an agent that takes the request and hands out the work. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageHandler } from 'throughline/agent';
import { HubClient } from 'throughline/client';
import { createMaster } from 'throughline/master';
import { ThroughlineError, type Principal } from 'throughline/model';
import { z } from 'zod';
import { partSchema, playNamed } from './plays.ts';

const settings = partSchema.parse(process.env);
const play = await playNamed(settings.CHAOS_PLAY, process.env);
const agents = z
  .array(z.object({ id: z.string(), name: z.string(), description: z.string(), url: z.url() }))
  .parse(JSON.parse(settings.CHAOS_AGENTS))
  .map((agent) => ({ ...agent, behind: 'hub' as const }));
const hubSchema = z.object({ url: z.url() });

export const card = { name: 'Master', description: 'Divides what it is asked.' };

/** Waits for a hub that was killed just then, as everything that the Master itself asks of it does. */
async function selfAt(hub: HubClient, signal: AbortSignal): Promise<Principal> {
  for (;;) {
    try {
      return await hub.whoAmI();
    } catch (error) {
      if (!(error instanceof ThroughlineError && error.retryable)) throw error;
      await sleep(200, undefined, { signal });
    }
  }
}

export const onMessage: MessageHandler = async ({ text }, io) => {
  const read = (name: string): string => readFileSync(join(settings.CHAOS_DATA, name), 'utf8');
  const { url } = hubSchema.parse(JSON.parse(read('hub.json')));
  const hub = new HubClient({ url, key: read(`agent-${settings.CHAOS_PART}.key`).trim() });
  const master = createMaster({
    ports: hub.master(),
    a2a: hub,
    principal: await selfAt(hub, io.signal),
    name: card.name,
    agents,
    ...play.master,
    onFault: (error) => process.stderr.write(`${String(error)}\n`),
  });
  const request = { ...play.request, taskId: io.taskId, query: text };
  const { taskContext } = await master.run(request, { signal: io.signal });
  return { text: taskContext.OverallStatus };
};
