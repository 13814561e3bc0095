import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** A chat request, as far as an answer depends on it. */
const requestSchema = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  max_tokens: z.number().optional(),
  tools: z.unknown().optional(),
  response_format: z
    .object({ type: z.string(), json_schema: z.object({ schema: z.unknown() }).optional() })
    .optional(),
});

interface ChatRequest {
  readonly model: string;
  readonly key: string | undefined;
  readonly system: string;
  readonly prompt: string;
  readonly schema: unknown;
  readonly tools: unknown;
  /** Which request of this server it is, from 1. */
  readonly turn: number;
}

/** What the server does with a request: an answer, or the raw response where something goes wrong. */
export type Chat = (request: ChatRequest) => string | ((response: ServerResponse) => void);

export interface ChatServer extends AsyncDisposable {
  /** Base URL of the OpenAI-compatible API. */
  readonly url: string;
  readonly requests: readonly ChatRequest[];
}

/** An OpenAI-compatible server on loopback; counts a word as a token. */
export async function serveChat(chat: Chat): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = requestSchema.parse(JSON.parse(await text(request)));
    const said = (role: string): string =>
      body.messages.flatMap((each) => (each.role === role ? [each.content] : [])).join('\n');
    const asked: ChatRequest = {
      model: body.model,
      key: request.headers.authorization?.replace('Bearer ', ''),
      system: said('system'),
      prompt: said('user'),
      schema: body.response_format?.json_schema?.schema,
      tools: body.tools,
      turn: requests.length + 1,
    };
    requests.push(asked);
    const given = chat(asked);
    if (typeof given === 'string') complete(response, asked, given);
    else given(response);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(400).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const words = (of: string): number => of.split(/\s+/).filter((word) => word !== '').length;

/** Answers as the API does. */
function complete(response: ServerResponse, asked: ChatRequest, content: string): void {
  sendJson(response, 200, {
    id: `chat-${asked.turn}`,
    object: 'chat.completion',
    created: 0,
    model: asked.model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: words(`${asked.system} ${asked.prompt}`),
      completion_tokens: words(content),
      total_tokens: words(`${asked.system} ${asked.prompt} ${content}`),
    },
  });
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
