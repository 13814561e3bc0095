import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';

const attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const spanSchema = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.int(),
  attributes: z.array(attribute),
});
const bodySchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

export interface ReceivedSpan extends z.infer<typeof spanSchema> {
  readonly service: string;
}

/** A collector of spans for tests, which takes OTLP as JSON over HTTP and nothing else. */
export async function startCollector() {
  const spans: ReceivedSpan[] = [];
  /** All that came, as it came. */
  const texts: string[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const text = bytes.toString('utf8');
      texts.push(text);
      const parsed =
        request.url === '/v1/traces' ? bodySchema.safeParse(JSON.parse(text)) : undefined;
      for (const { resource, scopeSpans } of parsed?.data?.resourceSpans ?? []) {
        const name = resource.attributes.find(({ key }) => key === 'service.name');
        const service = String(name?.value['stringValue']);
        for (const span of scopeSpans.flatMap((each) => each.spans))
          spans.push({ ...span, service });
      }
      response.writeHead(parsed?.success === true ? 200 : 400, {
        'Content-Type': 'application/json',
      });
      return response.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    texts,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
