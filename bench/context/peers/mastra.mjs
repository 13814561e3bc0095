/** @mastra/core: a network routes to its one agent. */
import { Agent } from '@mastra/core/agent';
import { MockMemory } from '@mastra/core/memory';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

const mock = (answer) => ({
  specificationVersion: 'v2',
  provider: 'mock',
  modelId: 'mock',
  supportedUrls: {},
  doGenerate: async (options) => ({
    content: [{ type: 'text', text: answer(options) }],
    finishReason: 'stop',
    usage,
    warnings: [],
  }),
  doStream: async (options) => ({ stream: ReadableStream.from(partsOf(answer(options))) }),
});

function* partsOf(text) {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: text };
  yield { type: 'text-end', id: 't' };
  yield { type: 'finish', finishReason: 'stop', usage };
}

const textOf = ({ content }) =>
  typeof content === 'string'
    ? content
    : content.map((part) => part.text ?? JSON.stringify(part)).join('\n');
const asRead = ({ prompt }) =>
  prompt
    .filter(({ role }) => role !== 'system')
    .map(textOf)
    .join('\n');

/** What its routing agent decides first, and what it says once the work came back. */
const routing = (question) => ({
  primitiveId: 'worker',
  primitiveType: 'agent',
  prompt: question,
  selectionReason: 'It works.',
});
const complete = { isComplete: true, completionReason: 'It is done.', finalResult: 'Done.' };

export async function capture(history, question, { lastMessages } = {}) {
  let prompt;
  let led;
  const working = mock((options) => {
    prompt ??= asRead(options);
    return 'Done.';
  });
  const leading = mock((options) => {
    const isFirst = led === undefined;
    led ??= asRead(options);
    return JSON.stringify(isFirst ? routing(question) : complete);
  });
  const worker = new Agent({
    id: 'worker',
    name: 'worker',
    description: 'Works.',
    instructions: 'Work.',
    model: working,
  });
  const network = new Agent({
    id: 'leader',
    name: 'leader',
    instructions: 'Delegate.',
    agents: { worker },
    model: leading,
    memory: new MockMemory({ ...(lastMessages !== undefined && { options: { lastMessages } }) }),
  });
  const before = history.flatMap((content) => [
    { role: 'user', content },
    { role: 'assistant', content: 'Noted.' },
  ]);
  const stream = await network.network([...before, { role: 'user', content: question }], {
    memory: { thread: 'conversation', resource: 'user' },
    maxSteps: 1,
  });
  for await (const _ of stream);
  return { prompt, leader: led };
}
