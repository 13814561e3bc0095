import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubClient } from '../../client/index.ts';
import { agentKey } from '../agent-key.ts';
import { DataFolder } from '../data-folder.ts';
import { startHub, type RunningHub } from '../wire.ts';
import { openRequest, type Parties } from './request-task.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'throughline-left-'));
let running: RunningHub;
let parties: Parties;
beforeAll(async () => {
  running = await startHub({ dataDir, port: 0 });
  const local = { url: running.url, key: running.localKey };
  const { key, principal } = await agentKey(local, new DataFolder(dataDir), 'runner');
  parties = {
    hub: new HubClient({ url: running.url, key }),
    master: principal,
    caller: {
      principal: await new HubClient(local).whoAmI(),
      credential: `Bearer ${running.localKey}`,
    },
  };
});
afterAll(async () => {
  await running.close();
  rmSync(dataDir, { recursive: true });
});

const stateOf = async (taskId: string): Promise<string | undefined> =>
  (await parties.hub.loadTask(parties.caller, taskId))?.state;

/** A process that is over. */
const gone = (): number => spawnSync(process.execPath, ['--version']).pid;

describe('a request whose process died before it had begun the run', () => {
  it('is ended by the next one, and says why; one whose process lives is left alone', async () => {
    const left = await openRequest(parties, 'Left', gone());
    const lives = await openRequest(parties, 'Lives');
    expect(await stateOf(left.taskId)).toBe('failed');
    const record = await parties.hub.loadTask(parties.caller, left.taskId);
    expect(JSON.stringify(record?.body)).toContain('before it had begun the run');
    await openRequest(parties, 'Another');
    expect(await stateOf(lives.taskId)).toBe('in-progress');
  });

  it('is left alone where the run was begun: another command goes on with it', async () => {
    const { taskId } = await openRequest(parties, 'Begun', gone());
    const ports = parties.hub.master();
    const { activity, task } = await ports.locate(taskId);
    await ports.saveRun({ id: task, activity, done: false, state: { begun: true }, expected: 0 });
    await openRequest(parties, 'Another');
    expect(await stateOf(taskId)).toBe('in-progress');
  });
});
