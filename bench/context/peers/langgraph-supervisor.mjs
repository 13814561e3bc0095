/** @langchain/langgraph-supervisor: a supervisor hands off to one worker. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createSupervisor } from '@langchain/langgraph-supervisor';

class Mock extends BaseChatModel {
  constructor(answer) {
    super({});
    this.answer = answer;
  }

  _llmType() {
    return 'mock';
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    return { generations: [{ text: '', message: this.answer(messages) }] };
  }
}

const textOf = ({ content }) => (typeof content === 'string' ? content : JSON.stringify(content));

export async function capture(history, question) {
  let prompt;
  let leader;
  let turns = 0;
  const working = new Mock((messages) => {
    prompt ??= messages.map(textOf).join('\n');
    return new AIMessage('Done.');
  });
  const leading = new Mock((messages) => {
    leader ??= messages.map(textOf).join('\n');
    turns += 1;
    const handOff = { id: 'c1', name: 'transfer_to_worker', args: {}, type: 'tool_call' };
    return turns === 1
      ? new AIMessage({ content: question, tool_calls: [handOff] })
      : new AIMessage('Done.');
  });
  const worker = createReactAgent({ llm: working, tools: [], name: 'worker' });
  const app = createSupervisor({ agents: [worker], llm: leading }).compile();
  const before = history.flatMap((text) => [new HumanMessage(text), new AIMessage('Noted.')]);
  await app.invoke({ messages: [...before, new HumanMessage(question)] });
  return { prompt, leader };
}
