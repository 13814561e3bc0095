import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeAgentContext } from '../handover/agent-context.ts';
import type { AgentContext, CompressionPolicy } from '../model/agent-context.ts';
import { serveChat } from '../models/conformance/chat-server.ts';
import { modelFromEnv } from '../models/from-env.ts';
import { readMaterials } from './materials.ts';
import { httpCompressor, modelSummariser, type Rewriter } from './rewriter.ts';

const source =
  'The committee met on Tuesday and talked at length about the weather in the valley. ' +
  'It then resolved that the bridge at Marlow is to be closed on 4 May 2031 for repairs. ' +
  'Afterwards there was coffee, and several members spoke about their holidays by the sea.';

const item: AgentContext['ContextItems'][number] = {
  ContextID: 'minutes',
  ContextType: 'text',
  MediaType: 'text/plain',
  ContextURI: 'https://hub.example/content/minutes',
  Description: 'Minutes',
  Priority: 'compressible',
};

const contextWith = (LossTolerance: CompressionPolicy['LossTolerance']): AgentContext => ({
  ...makeAgentContext({
    agent: { id: 'a', name: 'A' },
    subtask: { id: 's', name: 'S' },
    dependencies: [],
    items: [item],
    todo: [{ id: 'when', description: 'When is the bridge closed?' }],
    criteria: [],
    confidence: 0,
  }),
  CompressionPolicy: {
    Strategy: 'target_ratio',
    TargetRatio: 0.6,
    LossTolerance,
    MustPreserveFields: [],
  },
});

const faults: unknown[] = [];
const materialsOf = async (
  tolerance: CompressionPolicy['LossTolerance'],
  ...rewriters: readonly Rewriter[]
) => materialsFrom(contextWith(tolerance), source, rewriters);

const materialsFrom = async (
  context: AgentContext,
  whole: string,
  rewriters: readonly Rewriter[],
) => {
  faults.length = 0;
  const { items, report } = await readMaterials(context, {
    fetch: () =>
      Promise.resolve({
        item: context.ContextItems[0] ?? item,
        mediaType: 'text/plain',
        bytes: new TextEncoder().encode(whole),
        text: () => whole,
      }),
    rewriters,
    signal: new AbortController().signal,
    fault: (error) => faults.push(error),
    pinned: ['4 May 2031'],
  });
  return { text: items[0]?.text ?? '', did: report.items[0] };
};

const requestSchema = z.object({
  context: z.array(z.string()).length(1),
  question: z.string(),
  target_token: z.int(),
  force_tokens: z.array(z.string()),
});
type Asked = z.infer<typeof requestSchema>;

const common = /^(?:the|and|at|in|of|a|to|is|on|by|was|for|It|that|then|their|with|about)$/;

/** A service that leaves out words that carry little, as a neural one does by their information. */
const dropsCommon = ({ context: [whole = ''] }: Asked): unknown => ({
  compressed_prompt: whole
    .split(' ')
    .filter((word) => !common.test(word))
    .join(' '),
  model: 'drops-common-words',
});

/** Runs `use` with the URL of a service on loopback; an answer that is a number is a status. */
async function withService<T>(
  answer: (asked: Asked) => unknown,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const given = answer(requestSchema.parse(JSON.parse(await text(request))));
    if (typeof given === 'number') response.writeHead(given).end();
    else if (given !== undefined) response.end(JSON.stringify(given));
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    return await use(`http://127.0.0.1:${port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const compressed = (
  answer: (asked: Asked) => unknown,
  tolerance: CompressionPolicy['LossTolerance'] = 'medium',
) => withService(answer, (url) => materialsOf(tolerance, httpCompressor({ url, timeoutMs: 200 })));

describe('a compressor behind HTTP', () => {
  it('shortens a text where the policy lets it, and the report names it', async () => {
    const asked: Asked[] = [];
    const { text: short, did } = await compressed((request) => {
      asked.push(request);
      return dropsCommon(request);
    });
    expect(did).toMatchObject({ did: 'rewritten', strategy: 'compressor drops-common-words' });
    expect(short).toContain('4 May 2031');
    expect(short).not.toContain(' the ');
    expect(asked).toMatchObject([
      { question: 'When is the bridge closed?', force_tokens: ['4 May 2031'] },
    ]);
  });

  it('gets a page as Markdown, and what it leaves of that is taken over', async () => {
    const asked: Asked[] = [];
    const context = contextWith('medium');
    const ContextItems = [{ ...item, MediaType: 'text/html' }];
    const html = `<article class="minutes"><h2>Minutes</h2><p>${source}</p></article>`;
    const answer = (request: Asked) => {
      asked.push(request);
      return dropsCommon(request);
    };
    const { text: short, did } = await withService(answer, (url) =>
      materialsFrom({ ...context, ContextItems }, html, [httpCompressor({ url })]),
    );
    expect(asked[0]?.context).toEqual([`## Minutes\n\n${source}`]);
    expect(did).toMatchObject({ did: 'rewritten' });
    expect(short).toMatch(/^## Minutes/);
    expect(faults).toEqual([]);
  });

  it.each(['none', 'low'] as const)('is not asked at LossTolerance %s', async (tolerance) => {
    let asked = 0;
    await compressed(() => {
      asked += 1;
      return { compressed_prompt: '' };
    }, tolerance);
    expect(asked).toBe(0);
  });

  it.each<[string, (asked: Asked) => unknown]>([
    ['adds words', () => ({ compressed_prompt: 'bridge closed 4 May 2031 forever' })],
    ['loses what is pinned', () => ({ compressed_prompt: 'bridge closed' })],
    ['gives the text back as long as it was', ({ context }) => ({ compressed_prompt: context[0] })],
  ])('that %s is refused, and extraction does the work', async (_, answer) => {
    const { text: short, did } = await compressed(answer);
    expect(did?.did).toBe('extracted');
    expect(did?.notes.join()).toMatch(/rewrite by .* is refused/);
    expect(short).toContain('closed on 4 May 2031 for repairs');
  });

  it.each<[string, string, (asked: Asked) => unknown]>([
    ['is overloaded', 'unavailable', () => 503],
    ['answers something else', 'invalid', () => ({ text: 'short' })],
    ['answers without end', 'too-large', () => ({ compressed_prompt: 'x'.repeat(200_000) })],
  ])('that %s is a fault by name, and extraction does the work', async (_, code, answer) => {
    const { did } = await compressed(answer);
    expect(did?.did).toBe('extracted');
    expect(faults).toMatchObject([{ code }]);
  });

  it('that hangs is given up', async () => {
    const { did } = await compressed(() => undefined);
    expect(did?.did).toBe('extracted');
    expect(faults).toHaveLength(1);
  });

  it.each(['http://compressor.example/', 'http://127.0.0.1.example/', 'ftp://127.0.0.1/'])(
    'at %s is refused: texts would go out in the clear',
    (url) => {
      expect(() => httpCompressor({ url })).toThrow(expect.objectContaining({ code: 'invalid' }));
    },
  );
});

const summarised = async (tolerance: CompressionPolicy['LossTolerance'], summary: string) => {
  await using server = await serveChat(() => summary);
  const env = { THROUGHLINE_MODEL: 'local/short', THROUGHLINE_MODEL_URL: server.url };
  const model = await modelFromEnv(env, { retries: 0 });
  if (model === undefined) throw new Error('The environment names a model.');
  const given = await materialsOf(tolerance, modelSummariser(model));
  return { ...given, requests: server.requests };
};

describe('a summariser', () => {
  it('writes anew at LossTolerance high, from the text as quoted data', async () => {
    const { text: short, did, requests } = await summarised('high', 'Closed from 4 May 2031.');
    expect(did).toMatchObject({ did: 'rewritten', strategy: 'summariser local/short' });
    expect(short).toBe('Closed from 4 May 2031.');
    expect(requests[0]?.prompt).toContain(`begin quoted data: minutes -----\n${source}`);
    expect(requests[0]?.prompt).toContain('- 4 May 2031');
  });

  it('is not asked where nothing may be written anew', async () => {
    expect((await summarised('medium', 'x')).requests).toEqual([]);
  });

  it('that loses what is pinned is refused', async () => {
    const { did } = await summarised('high', 'The bridge will be closed.');
    expect(did?.did).toBe('extracted');
    expect(did?.notes.join()).toContain('it lost 1 pinned facts');
  });
});
