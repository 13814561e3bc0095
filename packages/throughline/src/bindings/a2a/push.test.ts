import { TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../errors.ts';
import { alice, echo, gate, MemoryPorts, rpc, wireMessage } from './conformance.ts';
import { MemoryPush, MemorySender } from './conformance/push.ts';
import { start as startPlain, type Agent } from './conformance/started.ts';

type Started = Agent & { push: MemoryPush; sender: MemorySender };

const quick = { attempts: 3, firstMs: 1, capMs: 2 };
const waits = {
  replayMs: 2_000,
  cancelMs: 2_000,
  record: { everyMs: 20, forMs: 1_000 },
  push: quick,
};

async function start(
  script: Parameters<typeof startPlain>[0],
  given: { ports?: MemoryPorts; push?: MemoryPush; sender?: MemorySender } = {},
): Promise<Started> {
  const ports = given.ports ?? new MemoryPorts();
  const push = given.push ?? new MemoryPush(ports);
  const sender = given.sender ?? new MemorySender();
  const agent = await startPlain(script, { ports, push: { ports: push, sender }, waits });
  return { ...agent, push, sender };
}

const hook = {
  url: 'https://hook.example/a?key=1',
  token: 'tok',
  authentication: { scheme: 'Bearer', credentials: 'cred' },
};

const send = (agent: Started, config: object = hook, more: object = {}) =>
  rpc(agent.url, agent.keys.alice, 'SendMessage', {
    message: wireMessage('x'),
    configuration: { taskPushNotificationConfig: config, ...more },
  });

const taskIdIn = ({ body }: Awaited<ReturnType<typeof rpc>>): string =>
  String(Object(body.result)['task'].id);

const about = (method: string) => `${method}TaskPushNotificationConfig`;

describe('push notifications', () => {
  it('are offered by the card only where there is something to send with', async () => {
    const agent = await start(echo);
    expect(agent.served.card.capabilities?.pushNotifications).toBe(true);
  });

  it('tell each change in order, in the form of a stream, with the secrets given', async () => {
    const agent = await start(echo);
    await send(agent);
    await agent.sender.count(3);
    const kinds = agent.sender.sent.map(({ body }) => Object.keys(body));
    expect(kinds).toEqual([['task'], ['artifactUpdate'], ['statusUpdate']]);
    expect(agent.sender.sent[2]?.body).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
    for (const { headers } of agent.sender.sent) {
      expect(headers).toEqual({
        authorization: 'Bearer cred',
        'x-a2a-notification-token': 'tok',
        'content-type': 'application/a2a+json',
      });
    }
    await agent.served.close();
    expect(agent.push.configs).toMatchObject([{ settled: true }]);
  });

  it('are made, read, listed and deleted by their owner alone', async () => {
    const agent = await start(async (desk) => {
      desk.task();
      await new Promise<void>(() => undefined);
    });
    const sent = rpc(agent.url, agent.keys.alice, 'SendMessage', {
      message: wireMessage('x'),
      configuration: { returnImmediately: true },
    });
    const taskId = taskIdIn(await sent);
    const ask = (key: string, method: string, params: object) =>
      rpc(agent.url, key, method, { taskId, ...params });
    const own = agent.keys.alice;
    const made = await ask(own, about('Create'), { ...hook, id: 'c' });
    expect(made.body.result).toMatchObject({ id: 'c', taskId, url: hook.url });
    const unnamed = Object((await ask(own, about('Create'), hook)).body.result);
    expect(unnamed.id).toMatch(/^[0-9a-f-]{36}$/);
    const list = `${about('List')}s`;
    const first = Object((await ask(own, list, { pageSize: 1 })).body.result);
    expect(first.configs).toHaveLength(1);
    const rest = { pageSize: 1, pageToken: first.nextPageToken };
    expect(Object((await ask(own, list, rest)).body.result).configs).toHaveLength(1);
    for (const key of [agent.keys.bob, agent.keys.otherAlice]) {
      for (const [method, params] of [
        [about('Create'), hook],
        [about('Get'), { id: 'c' }],
        [list, {}],
        [about('Delete'), { id: 'c' }],
      ] as const) {
        const foreign = await ask(key, method, params);
        const missing = await ask(key, method, { ...params, taskId: 'not-there' });
        expect(JSON.stringify(foreign.body).replaceAll(taskId, 'ID')).toBe(
          JSON.stringify(missing.body).replaceAll('not-there', 'ID'),
        );
        expect(foreign.body.error?.code).toBe(-32_001);
        expect(JSON.stringify(foreign.body)).not.toContain('cred');
      }
    }
    expect(agent.push.configs).toHaveLength(2);
    for (const attempt of [1, 2]) {
      expect(
        (await ask(own, about('Delete'), { id: 'c' })).body.error,
        `${attempt}`,
      ).toBeUndefined();
    }
    expect((await ask(own, about('Get'), { id: 'c' })).body.error?.code).toBe(-32_001);
  });

  it.each([
    ['http://169.254.169.254/latest/meta-data'],
    ['http://hook.example/'],
    ['file:///etc/passwd'],
    ['htp://hook.example/'],
    [''],
  ])('are refused for %j before anything is written', async (url) => {
    const agent = await start(echo);
    const inline = await send(agent, { ...hook, url });
    expect(inline.body.error?.code).toBe(-32_602);
    expect(agent.ports.writes).toEqual([]);
    expect(agent.executor.runs).toBe(0);
    const taskId = taskIdIn(
      await rpc(agent.url, agent.keys.alice, 'SendMessage', { message: wireMessage('x') }),
    );
    const later = await rpc(agent.url, agent.keys.alice, about('Create'), { ...hook, url, taskId });
    expect(later.body.error?.code).toBe(-32_602);
    expect(agent.push.configs).toEqual([]);
  });

  it('are checked again when they are sent, and given up with a fault that keeps secrets', async () => {
    const agent = await start(echo);
    agent.sender.send = () =>
      Promise.reject(new ThroughlineError('invalid', 'it leads to a loopback address'));
    await send(agent);
    await agent.served.close();
    expect(agent.faults.length).toBeGreaterThan(0);
    const told = agent.faults.map((fault) => (fault instanceof Error ? fault.message : '')).join();
    expect(told).toContain('given up after');
    expect(told).not.toMatch(/key=1|tok|cred|hook\.example/);
    expect(agent.push.configs).toMatchObject([{ settled: true }]);
  });

  it('are tried again while the address fails, and no more often than said', async () => {
    const agent = await start(({ task }) => task(TaskState.TASK_STATE_COMPLETED));
    agent.sender.answer = () => 503;
    await send(agent);
    await agent.served.close();
    expect(agent.sender.sent).toHaveLength(quick.attempts);
    expect(agent.faults).toMatchObject([
      { code: 'unavailable', details: { attempts: 3, final: true } },
    ]);
  });

  it('are not tried again where the address refuses them', async () => {
    const agent = await start(({ task }) => task(TaskState.TASK_STATE_COMPLETED));
    agent.sender.answer = () => 410;
    await send(agent);
    await agent.served.close();
    expect(agent.sender.sent).toHaveLength(1);
  });

  it('tell the end at least once, by the next process when this one could not', async () => {
    const first = await start(({ task }) => task(TaskState.TASK_STATE_COMPLETED));
    const stuck = gate();
    first.sender.answer = () => stuck.passed.then(() => 200);
    await send(first);
    await first.sender.count(1);
    await first.served.close(0);
    expect(first.push.configs).toMatchObject([{ settled: false }]);
    const next = await start(echo, { ports: first.ports, push: first.push });
    await next.served.resumed;
    expect(next.sender.sent.map(({ body }) => body)).toMatchObject([
      { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
    ]);
    expect(first.push.configs).toMatchObject([{ settled: true }]);
    const third = await start(echo, { ports: first.ports, push: first.push });
    await third.served.resumed;
    expect(third.sender.sent).toEqual([]);
    stuck.open();
  });

  it('tell the end to one who asks when it is over', async () => {
    const agent = await start(echo);
    const taskId = taskIdIn(
      await rpc(agent.url, agent.keys.alice, 'SendMessage', { message: wireMessage('x') }),
    );
    await rpc(agent.url, agent.keys.alice, about('Create'), { ...hook, taskId });
    await agent.sender.count(1);
    expect(agent.sender.sent[0]?.body).toMatchObject({ task: { id: taskId } });
  });

  it('tell of a cancellation that no executor works on', async () => {
    const agent = await start(({ task }) => task(TaskState.TASK_STATE_INPUT_REQUIRED));
    const taskId = taskIdIn(await send(agent));
    await rpc(agent.url, agent.keys.alice, 'CancelTask', { id: taskId });
    await agent.sender.count(2);
    expect(agent.sender.sent[1]?.body).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } },
    });
  });

  it('do not let one address that hangs hold up another', async () => {
    const agent = await start(echo);
    const stuck = gate();
    agent.sender.answer = (url) => (url.includes('slow') ? stuck.passed.then(() => 200) : 200);
    const taskId = taskIdIn(
      await rpc(agent.url, agent.keys.alice, 'SendMessage', { message: wireMessage('x') }),
    );
    const ask = (id: string, url: string) =>
      rpc(agent.url, agent.keys.alice, about('Create'), { taskId, id, url });
    await ask('slow', 'https://slow.example/');
    await ask('fast', 'https://fast.example/');
    await agent.sender.count(2);
    expect(agent.sender.sent.map(({ url }) => url)).toContain('https://fast.example/');
    stuck.open();
  });

  it('are there as soon as the task is that they came with', async () => {
    const agent = await start(echo);
    const known: number[] = [];
    agent.ports.afterWrite = () => known.push(agent.push.configs.length);
    const configuration = { taskPushNotificationConfig: hook };
    const params = { message: wireMessage('x'), configuration };
    await rpc(agent.url, agent.keys.alice, 'SendMessage', params);
    expect(known[0]).toBe(1);
  });

  it('come in the form of the version that they were asked in', async () => {
    const agent = await start(echo);
    const message = {
      kind: 'message',
      role: 'user',
      messageId: 'm',
      parts: [{ kind: 'text', text: 'x' }],
    };
    const configuration = { blocking: true, pushNotificationConfig: { url: hook.url } };
    await rpc(
      agent.url,
      agent.keys.alice,
      'message/send',
      { message, configuration },
      {
        'a2a-version': '0.3',
      },
    );
    await agent.sender.count(1);
    expect(agent.sender.sent[0]?.body).toMatchObject({ kind: 'task' });
    expect(agent.push.configs).toMatchObject([{ owner: alice.id, protocolVersion: '0.3' }]);
  });

  it.each(['taskId', 'task_id'])(
    'are for the task in the path of HTTP+JSON, whatever %s of the body says',
    async (name) => {
      const agent = await start(echo);
      const params = { message: wireMessage('x') };
      const mine = taskIdIn(await rpc(agent.url, agent.keys.alice, 'SendMessage', params));
      const hers = taskIdIn(await rpc(agent.url, agent.keys.bob, 'SendMessage', params));
      const response = await fetch(`${agent.url}tasks/${mine}/pushNotificationConfigs`, {
        method: 'POST',
        headers: {
          authorization: agent.keys.alice,
          'a2a-version': '1.0',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ ...hook, id: 'c', [name]: hers }),
      });
      expect(await response.json()).toMatchObject({ id: 'c', taskId: mine });
      expect(agent.push.configs.map(({ taskId }) => taskId)).toEqual([mine]);
    },
  );
});
