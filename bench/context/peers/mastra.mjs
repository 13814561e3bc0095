/** @mastra/core: an agent delegates to one of its network. */
import { Agent } from '@mastra/core/agent';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

const mock = (answer) => ({
  specificationVersion: 'v2',
  provider: 'mock',
  modelId: 'mock',
  supportedUrls: {},
  doGenerate: async (options) => ({
    content: answer(options),
    finishReason: 'stop',
    usage,
    warnings: [],
  }),
  doStream: async (options) => ({ stream: ReadableStream.from(partsOf(answer(options))) }),
});

function* partsOf(content) {
  yield { type: 'stream-start', warnings: [] };
  for (const part of content) {
    if (part.type === 'text') {
      yield { type: 'text-start', id: 't' };
      yield { type: 'text-delta', id: 't', delta: part.text };
      yield { type: 'text-end', id: 't' };
    } else {
      yield part;
    }
  }
  const calls = content.some(({ type }) => type === 'tool-call');
  yield { type: 'finish', finishReason: calls ? 'tool-calls' : 'stop', usage };
}

const textOf = ({ content }) =>
  typeof content === 'string'
    ? content
    : content.map((part) => part.text ?? JSON.stringify(part)).join('\n');

export async function capture(history, question) {
  let prompt;
  let turns = 0;
  const working = mock(({ prompt: given }) => {
    const messages = given.filter(({ role }) => role !== 'system');
    prompt ??= messages.map(textOf).join('\n');
    return [{ type: 'text', text: 'Done.' }];
  });
  const leading = mock(({ tools = [] }) => {
    turns += 1;
    const toolName = tools.find(({ name }) => name.includes('worker'))?.name ?? 'agent-worker';
    const input = JSON.stringify({ prompt: question });
    return turns === 1
      ? [{ type: 'tool-call', toolCallId: 'c1', toolName, input }]
      : [{ type: 'text', text: 'Done.' }];
  });
  const worker = new Agent({
    id: 'worker',
    name: 'worker',
    description: 'Works.',
    instructions: 'Work.',
    model: working,
  });
  const leader = new Agent({
    id: 'leader',
    name: 'leader',
    instructions: 'Delegate.',
    agents: { worker },
    model: leading,
  });
  const before = history.flatMap((content) => [
    { role: 'user', content },
    { role: 'assistant', content: 'Noted.' },
  ]);
  await leader.generate([...before, { role: 'user', content: question }], { maxSteps: 2 });
  return prompt;
}
