import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below where systems take ports from by themselves (Linux from 32768 on, macOS and Windows from
 * 49152): of those, any connection or listener on the machine may have the next one at any moment.
 */
const first = 20_000;
const many = 12_000;

/**
 * A port on loopback that is free, `inARow` of them from it on. For what must be told its port
 * before it listens, or come back to it: what may listen anywhere is given port 0.
 */
export async function freePort(inARow = 1): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = first + Math.floor(Math.random() * (many - inARow));
    const wanted = Array.from({ length: inARow }, (_, index) => port + index);
    const free = await Promise.all(wanted.map(isFree));
    if (free.every(Boolean)) return port;
  }
  throw new Error(`no ${inARow} free ports from ${first} to ${first + many}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
