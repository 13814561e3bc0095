import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TaskState } from '@a2a-js/sdk';
import { afterEach, expect, it, vi } from 'vitest';
import { Scripted } from '../bindings/a2a/conformance.ts';
import { agentCard, connectA2a, serveA2a } from '../bindings/a2a/index.ts';
import { textOf } from '../bindings/a2a/wire.ts';
import { HubClient } from '../client/index.ts';
import type { Principal } from '../model/principal.ts';
import { startHub } from './wire.ts';

// A hub, two servers and many writes take their time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const agent: Principal = { tenant: 'local', id: 'clerk', role: 'agent' };
const sends = 16;

/** Notes each message as an artifact of its own and asks for the next. */
const notes = () =>
  new Scripted(({ context, task, artifact, status }) => {
    task(TaskState.TASK_STATE_WORKING, {
      history: context.task?.history ?? [context.userMessage],
      artifacts: context.task?.artifacts ?? [],
    });
    const text = textOf(context.userMessage.parts);
    artifact(text, text);
    status(TaskState.TASK_STATE_INPUT_REQUIRED);
  });

const say = (text: string) => ({ parts: [{ kind: 'text', text } as const] });

it('two replicas of one agent on one hub lose no write that was answered', async () => {
  const hub = await startHub({ dataDir: mkdtempSync(join(tmpdir(), 'replicas-')), port: 0 });
  closing.push(() => hub.close());
  const operator = new HubClient({ url: hub.url, key: hub.localKey });
  const keyOf = async (id: string, role: Principal['role']) =>
    (await operator.createKey({ principal: { tenant: 'local', id, role } })).key;
  const agentKey = await keyOf('clerk', 'agent');
  const credential = `Bearer ${await keyOf('priya', 'caller')}`;
  const replicas = await Promise.all(
    [1, 2].map(async () => {
      const served = await serveA2a({
        card: (url) => agentCard({ name: 'Clerk', description: 'Notes', version: '1', url }),
        ports: new HubClient({ url: hub.url, key: agentKey }).ports(),
        agent,
        executor: notes(),
      });
      closing.push(() => served.close(0));
      const self = { kind: 'user', name: 'Priya' } as const;
      const client = await connectA2a({ url: served.url, credential, self });
      closing.push(() => client.close());
      return client;
    }),
  );
  const [first, second] = replicas;
  if (first === undefined || second === undefined) throw new Error('two were served');
  const begun = await first.send(say('note-0'));
  const { taskId = '' } = begun;
  const answers = await Promise.allSettled(
    Array.from({ length: sends }, (_, at) =>
      (at % 2 === 0 ? first : second).send({ ...say(`note-${at + 1}`), taskId }),
    ),
  );
  const answered = answers.flatMap(({ status }, at) =>
    status === 'fulfilled' ? [`note-${at + 1}`] : [],
  );
  expect(answered.length).toBeGreaterThan(0);
  const seen = await Promise.all(replicas.map((client) => client.getTask(taskId)));
  for (const { outputs } of seen) {
    const ids = outputs.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['note-0', ...answered]));
  }
});
