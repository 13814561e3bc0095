/** What every agent process of the desk does: read its settings, connect, say where it is, end. */
import { z } from 'zod';
import { peerTransports, type PeerTransport } from 'throughline/a2a';
import { connectAgent, type Connection } from 'throughline/cli';
import type { Principal } from 'throughline/model';

const settingsSchema = z.object({
  SUPPORT_DESK_HUB: z.url(),
  SUPPORT_DESK_KEY: z.string().min(1),
  SUPPORT_DESK_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
});

/** How the desk's processes speak with each other, where both can; for options of a connection. */
export function chosenTransport(): { transport?: PeerTransport } {
  const name = process.env['SUPPORT_DESK_TRANSPORT'];
  return name === undefined ? {} : { transport: z.enum(peerTransports).parse(name) };
}

/** This process's place in the desk. */
export interface Place {
  connection: Connection;
  principal: Principal;
  port: number;
}

/** Connects to the hub with the key from the environment, which no child of ours inherits. */
export async function joinDesk(): Promise<Place> {
  const settings = settingsSchema.parse(process.env);
  delete process.env['SUPPORT_DESK_KEY'];
  const connection = await connectAgent({
    hubUrl: settings.SUPPORT_DESK_HUB,
    key: settings.SUPPORT_DESK_KEY,
  });
  const principal = await connection.ports.authenticate(`Bearer ${settings.SUPPORT_DESK_KEY}`);
  return { connection, principal, port: settings.SUPPORT_DESK_PORT };
}

/** Says where the agent listens, and closes it when the parent asks or goes. */
export function announce(agent: { url: string; close(): Promise<void> }): void {
  const end = (): void => {
    void agent.close().finally(() => process.exit(0));
  };
  process.once('SIGTERM', end);
  process.once('disconnect', end);
  process.send?.({ kind: 'listening', url: agent.url });
}

/** Errors that callers don't see go to the log of the process. */
export function logFault(error: unknown): void {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
}
