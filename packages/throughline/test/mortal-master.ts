/**
 * A Master in a process of its own, to be killed: runs what its parent names, and tells how each ended.
 * Told to close it has nothing open any more, and so ends by itself.
 */
import { HubClient } from 'throughline/client';
import { createMaster, localEngine, type RunEngine } from 'throughline/master';
import { dbosEngine } from 'throughline/master/dbos';
import { z } from 'zod';

const settings = z
  .object({
    HUB: z.url(),
    KEY: z.string(),
    /** JSON of the agents. */
    AGENTS: z.string(),
    /** Of DBOS; absent: the local engine. */
    DATABASE: z.string().optional(),
  })
  .parse(process.env);
const ordered = z.union([
  z.strictObject({ taskId: z.string(), workflow: z.unknown() }),
  z.literal('close'),
]);

const tell = (saying: unknown): void => void process.send?.(saying);
const onFault = (error: unknown): void => tell({ kind: 'fault', error: String(error) });

async function engineOf(hub: HubClient): Promise<RunEngine> {
  const leases = hub.master();
  if (settings.DATABASE === undefined) return localEngine(leases);
  return dbosEngine({ databaseUrl: settings.DATABASE, leases, name: 'desk', onFault });
}

const hub = new HubClient({ url: settings.HUB, key: settings.KEY });
const engine = await engineOf(hub);
const master = createMaster({
  ports: hub.master(),
  engine,
  a2a: hub,
  principal: await hub.whoAmI(),
  name: 'Desk',
  agents: JSON.parse(settings.AGENTS),
  lookMs: 100,
  onFault,
});
process.on('message', (raw) => {
  const order = ordered.parse(raw);
  if (order === 'close') {
    void master.close().then(() => process.disconnect());
    return;
  }
  const { taskId } = order;
  const workflow = JSON.parse(JSON.stringify(order.workflow));
  master.run({ taskId, query: 'Add it up', workflow, offered: [] }).then(
    (report) => tell({ kind: 'ended', taskId, status: report.status }),
    (error: unknown) => tell({ kind: 'failed', taskId, error: String(error) }),
  );
});
tell({ kind: 'ready', process: engine.process });
