/** The story as a collector of spans sees it. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { z } from 'zod';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
});
type Span = z.infer<typeof spanSchema>;
const bodySchema = z.object({
  resourceSpans: z.array(
    z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) }),
  ),
});

/** Takes OTLP as JSON over HTTP. */
async function collector() {
  const spans: Span[] = [];
  const texts: string[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      texts.push(JSON.stringify(body));
      for (const { scopeSpans } of bodySchema.parse(body).resourceSpans) {
        spans.push(...scopeSpans.flatMap((each) => each.spans));
      }
      return response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.int() }).parse(server.address());
  return { url: `http://127.0.0.1:${port}`, spans, texts, close: () => server.close() };
}

it(
  'is one trace over hub, Master and agents, without a word of anybody',
  { timeout: 120_000 },
  async () => {
    const { url, spans, texts, close } = await collector();
    const env = {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_BSP_SCHEDULE_DELAY: '200',
    };
    await promisify(execFile)(process.execPath, [main, '--json'], { env });
    close();
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const chains = spans.map((span) => {
      const names: string[] = [];
      let at: Span | undefined = span;
      for (; at !== undefined; at = byId.get(at.parentSpanId ?? '')) names.push(at.name);
      return names.join(' < ');
    });
    // A write at the hub, for what the Master asserts of one agent, in its run, for the user’s message.
    const run = 'invoke_workflow < agent.work < POST /agents/{name}';
    expect(chains).toContain(`store.write < hub.assert < invoke_agent < ${run}`);
    const invoked = spans.filter(({ name }) => name === 'invoke_agent');
    const [traceId, ...others] = new Set(invoked.map((each) => each.traceId));
    expect(others).toEqual([]);
    // What an agent asks in a process of its own, which is killed at its work before it tells of it.
    const names = spans.filter((each) => each.traceId === traceId).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['PUT /tasks/{id}', 'GET /content/{id}']));
    expect(texts.join('')).not.toMatch(/tlk_|cash ?back|Kenji|transaction/i);
  },
);
