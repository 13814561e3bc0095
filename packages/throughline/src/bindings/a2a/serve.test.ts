import { TaskState } from '@a2a-js/sdk';
import { Hono, type MiddlewareHandler } from 'hono';
import { describe, expect, it } from 'vitest';
import { agentCard } from './card.ts';
import {
  clerk,
  echo,
  gate,
  MemoryPorts,
  rpc,
  Scripted,
  startAgent,
  wireMessage,
} from './conformance.ts';
import { a2aRoutes, type A2aRoutes } from './server.ts';

describe('serving an agent', () => {
  it('is refused on an address that is taken, with what to do', async () => {
    const agent = await startAgent(echo);
    const port = Number(new URL(agent.url).port);
    await expect(startAgent(echo, { port })).rejects.toMatchObject({
      code: 'unavailable',
      retryable: false,
      message: expect.stringMatching(/^can’t listen on 127.0.0.1:\d+: .*choose another port$/),
    });
    await agent.served.close(0);
  });

  it('closes after what runs has ended and its answer is out', async () => {
    const door = gate();
    const agent = await startAgent(async (desk) => {
      desk.task();
      await door.passed;
      desk.status(TaskState.TASK_STATE_COMPLETED);
    });
    const answer = rpc(agent.url, agent.keys.alice, 'SendMessage', { message: wireMessage('x') });
    while (agent.ports.records.size === 0) await new Promise(setImmediate);
    const closed = agent.served.close(5_000);
    await expect(fetch(agent.url)).rejects.toThrow('fetch failed');
    door.open();
    expect((await answer).body.result).toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
    await closed;
  });

  it('hangs up on what does not end, and leaves it to be taken up', async () => {
    const agent = await startAgent((desk) => {
      desk.task();
      return new Promise<void>(() => undefined);
    });
    const answer = rpc(agent.url, agent.keys.alice, 'SendMessage', { message: wireMessage('x') });
    const hungUp = expect(answer).rejects.toThrow('fetch failed');
    while (agent.ports.records.size === 0) await new Promise(setImmediate);
    await agent.served.close(20);
    await hungUp;
    expect([...agent.ports.records.values()]).toMatchObject([{ state: 'in-progress' }]);
  });

  it('takes up what was left once, however often it is asked', async () => {
    const ports = new MemoryPorts();
    let listed = 0;
    ports.listTasks = () => {
      listed += 1;
      return Promise.resolve({ tasks: [], total: 0 });
    };
    const card = agentCard({ name: 'P', description: '', version: '1', url: 'http://127.0.0.1/' });
    const routes = a2aRoutes({ card, ports, agent: clerk, executor: new Scripted(echo) });
    await Promise.all([routes.resume(), routes.resume()]);
    await routes.resume();
    expect(listed).toBe(1);
  });
});

const fromElsewhere: MiddlewareHandler = async (c, next) => {
  if (c.req.header('origin') !== undefined) return c.json({ no: true }, 403);
  await next();
  return undefined;
};

const routes = (): A2aRoutes => {
  const url = 'http://127.0.0.1/agents/clerk/';
  return a2aRoutes({
    card: agentCard({ name: 'P', description: '', version: '1', url }),
    ports: new MemoryPorts(),
    agent: clerk,
    executor: new Scripted(echo),
    middleware: [fromElsewhere],
  });
};

describe('the routes of an agent', () => {
  it.each(['/agents/clerk', '/agents/clerk/'])(
    'can be mounted, and are reached at %s',
    async (path) => {
      const { app } = routes();
      const outer = new Hono();
      outer.mount('/agents/clerk', (request) => app.fetch(request));
      const post = await outer.request(path, { method: 'POST', body: '{}' });
      expect(post.status).toBe(401);
      const card = await outer.request('/agents/clerk/.well-known/agent-card.json');
      expect(await card.json()).toMatchObject({ name: 'P' });
    },
  );

  it('run what is put before them first', async () => {
    const { app } = routes();
    const headers = { origin: 'https://evil.example' };
    const answer = await app.request('/', { method: 'POST', body: '{}', headers });
    expect(answer.status).toBe(403);
  });
});
