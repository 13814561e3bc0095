/** @openai/agents: an agent hands off to another. */
import { Agent, Runner } from '@openai/agents';

const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, requests: 1 };
const said = (text) => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text }],
});
const mock = (answer) => ({
  getResponse: async (request) => ({ usage, output: answer(request), responseId: 'r' }),
});

function textOf({ content, output, arguments: given }) {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(({ text }) => text ?? '').join('\n');
  return output === undefined ? (given ?? '') : JSON.stringify(output);
}

const asRead = ({ input }) => (typeof input === 'string' ? input : input.map(textOf).join('\n'));

export async function capture(history, question) {
  let prompt;
  let led;
  const working = mock((request) => {
    prompt ??= asRead(request);
    return [said('Done.')];
  });
  const handOff = {
    type: 'function_call',
    id: 'f1',
    callId: 'c1',
    name: 'transfer_to_worker',
    arguments: '{}',
    status: 'completed',
  };
  const worker = new Agent({ name: 'worker', instructions: '', model: working });
  const leader = new Agent({
    name: 'leader',
    instructions: '',
    handoffs: [worker],
    model: mock((request) => {
      led ??= asRead(request);
      return [said(question), handOff];
    }),
  });
  const before = history.flatMap((text) => [{ role: 'user', content: text }, said('Noted.')]);
  const runner = new Runner({ tracingDisabled: true });
  await runner.run(leader, [...before, { role: 'user', content: question }]);
  return { prompt, leader: led };
}
