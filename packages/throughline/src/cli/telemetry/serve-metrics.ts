import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { ThroughlineError } from '../../errors.ts';
import { checkSource, metricsMediaType, problemResponse } from '../../server/index.ts';

const host = '127.0.0.1';

/**
 * Serves the figures at `/metrics` to this machine alone, without a key. Gives nothing without a port;
 * throws `unavailable` when that is taken, `unsupported` when there are no figures to serve.
 */
export async function serveMetrics(
  prometheus: (() => Promise<string>) | undefined,
  port: number | undefined,
): Promise<{ url: string; close(): void } | undefined> {
  if (port === undefined) return undefined;
  if (prometheus === undefined) {
    throw new ThroughlineError(
      'unsupported',
      '--metrics-port: OpenTelemetry is switched off here, or the application has its own; leave the port out',
    );
  }
  const app = new Hono();
  app.onError((error) => problemResponse(error));
  app.get('/metrics', async (c) => {
    // A browser could be made to read this under another name.
    checkSource(
      { host: c.req.header('Host'), origin: c.req.header('Origin') },
      new URL(`http://${host}`),
    );
    const text = await prometheus();
    return c.text(text, 200, { 'Content-Type': metricsMediaType, 'Cache-Control': 'no-store' });
  });
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => void listener(request, response));
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const message = `can’t listen on ${host}:${port} for the figures; choose another --metrics-port`;
    throw new ThroughlineError('unavailable', message, { cause, retryable: false });
  }
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host}:${actual}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
