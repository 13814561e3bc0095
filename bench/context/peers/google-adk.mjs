/** @google/adk: an agent transfers to its sub-agent. */
import { BaseLlm, createEvent, InMemoryRunner, LlmAgent, LogLevel, setLogLevel } from '@google/adk';

setLogLevel(LogLevel.ERROR);

class Mock extends BaseLlm {
  constructor(answer) {
    super({ model: 'mock' });
    this.answer = answer;
  }

  async *generateContentAsync(request) {
    yield { content: { role: 'model', parts: this.answer(request) } };
  }

  connect() {
    throw new Error('There is no live connection.');
  }
}

const textOf = ({ parts = [] }) =>
  parts.map((part) => part.text ?? JSON.stringify(part)).join('\n');
const where = { appName: 'bench', userId: 'user' };

export async function capture(history, question) {
  let prompt;
  let led;
  const working = new Mock(({ contents }) => {
    prompt ??= contents.map(textOf).join('\n');
    return [{ text: 'Done.' }];
  });
  const transfer = { name: 'transfer_to_agent', args: { agentName: 'worker' } };
  const leading = new Mock(({ contents }) => {
    led ??= contents.map(textOf).join('\n');
    return [{ text: question }, { functionCall: transfer }];
  });
  const worker = new LlmAgent({ name: 'worker', description: 'Works.', model: working });
  const leader = new LlmAgent({
    name: 'leader',
    description: 'Leads.',
    subAgents: [worker],
    model: leading,
  });
  const runner = new InMemoryRunner({ agent: leader, appName: where.appName });
  const session = await runner.sessionService.createSession(where);
  const append = (author, role, text) =>
    runner.sessionService.appendEvent({
      session,
      event: createEvent({ author, invocationId: 'before', content: { role, parts: [{ text }] } }),
    });
  for (const text of history) {
    await append('user', 'user', text);
    await append('leader', 'model', 'Noted.');
  }
  const newMessage = { role: 'user', parts: [{ text: question }] };
  const run = runner.runAsync({ userId: where.userId, sessionId: session.id, newMessage });
  for await (const _ of run) if (prompt !== undefined) break;
  return { prompt, leader: led };
}
