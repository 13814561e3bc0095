import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import type { AgentConnection, AgentTask, KnownAgent, OutgoingMessage } from './connection.ts';
import { sharing } from './shared-connections.ts';

const agent: KnownAgent = { id: 'clerk', name: 'clerk', url: 'http://127.0.0.1:1' };
const message: OutgoingMessage = {
  messageId: 'm',
  parts: [],
  envelope: { v: 1 },
  extensions: [],
};
const place = { activity: 'a', dialog: 'd', task: 't' };
const never = new AbortController().signal;

const failing = (): AsyncIterable<AgentTask> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => Promise.reject(new ThroughlineError('unavailable', 'cut')),
  }),
});

/** Connections that send nothing and fail every task; what became of each. */
function start() {
  const opened: { closed: boolean }[] = [];
  const connect = sharing(async (): Promise<AgentConnection> => {
    const state = { closed: false };
    opened.push(state);
    return {
      url: agent.url,
      extensions: new Set(),
      encode: () => '',
      send: failing,
      follow: failing,
      cancel: () => Promise.reject(new ThroughlineError('terminal', 'over')),
      close: async () => void (state.closed = true),
    };
  });
  return { opened, connect };
}

describe('a connection to an agent', () => {
  it('is shared by those who need it at the same time, and closed with the last of them', async () => {
    const { opened, connect } = start();
    const [a, b] = await Promise.all([connect(agent, never), connect(agent, never)]);
    await a.close();
    await a.close();
    expect(opened).toEqual([{ closed: false }]);
    await b.close();
    expect(opened).toEqual([{ closed: true }]);
    await connect(agent, never);
    expect(opened).toHaveLength(2);
  });

  it('is another one for each credential', async () => {
    const { opened, connect } = start();
    await connect(agent, never);
    await connect({ ...agent, credential: 'Bearer other' }, never);
    expect(opened).toHaveLength(2);
  });

  it('is not joined once it failed anybody', async () => {
    const { opened, connect } = start();
    const a = await connect(agent, never);
    await expect(a.send(message, place, never)[Symbol.asyncIterator]().next()).rejects.toThrow(
      'cut',
    );
    await connect(agent, never);
    expect(opened).toHaveLength(2);
    await a.close();
    expect(opened).toEqual([{ closed: true }, { closed: false }]);
  });

  it('is let go by one who gave up while it was opened', async () => {
    const { opened, connect } = start();
    const gone = AbortSignal.abort();
    await expect(connect(agent, gone)).rejects.toThrow();
    expect(opened).toEqual([{ closed: true }]);
  });
});
