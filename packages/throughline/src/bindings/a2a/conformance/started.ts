import { onTestFinished } from 'vitest';
import { rpc, startAgent, wireMessage, type RpcAnswer } from '../conformance.ts';

export type Agent = Awaited<ReturnType<typeof startAgent>>;

/** An agent until the end of the test that asks for it. */
export async function start(...args: Parameters<typeof startAgent>): Promise<Agent> {
  const agent = await startAgent(...args);
  onTestFinished(() => agent.served.close(100));
  return agent;
}

/** The same, on gRPC, too. */
export const startWithGrpc = (
  ...[script, options]: Parameters<typeof startAgent>
): Promise<Agent> => start(script, { grpc: {}, ...options });

/** A message of Alice's over JSON-RPC, answered when the task has come to rest. */
export const send = (agent: Agent, text = 'x'): Promise<RpcAnswer> =>
  rpc(agent.url, agent.keys.alice, 'SendMessage', { message: wireMessage(text) });

/** Answered as soon as there is a task. */
export const sendNow = (agent: Agent, text = 'x'): Promise<RpcAnswer> =>
  rpc(agent.url, agent.keys.alice, 'SendMessage', {
    message: wireMessage(text),
    configuration: { returnImmediately: true },
  });

/** The one task that there is. */
export function onlyRecord({ ports }: Pick<Agent, 'ports'>) {
  const [record] = [...ports.records.values()];
  if (record === undefined || ports.records.size !== 1) throw new Error('not one record');
  return record;
}
