import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentHandler } from '../../agent/index.ts';
import type { ContentRef } from '../../model/content.ts';
import { Handing, notes, reading } from './conformance.ts';

let world: Handing;
let now: Date;
beforeEach(async () => {
  now = new Date();
  const content = { regions: { here: 'eu', policy: 'same' } } as const;
  world = await Handing.open({ content, clock: () => now });
});
afterEach(() => world.close());
const pass = (seconds: number): void => {
  now = new Date(now.getTime() + seconds * 1_000);
};

const plan = reading({ needs: [], produces: [{ name: 'rows', description: 'Rows' }] });
const made: { ref?: ContentRef; task?: string } = {};
/** Puts out rows for some time, in some region. */
const putting =
  (keeping: { keepSeconds?: number; region?: string }, after?: () => void): AgentHandler =>
  async (_context, io) => {
    made.task = io.taskId;
    made.ref = await io.output('rows', 'text/csv', 'a,b', keeping);
    after?.();
    await io.itemDone('one', 'put out');
  };

describe('what an agent puts out', () => {
  it('is served for the time and in the region that the agent says', async () => {
    await world.serve(putting({ keepSeconds: 60, region: 'eu' }));
    const { status } = await world.run(plan, []);
    expect(status).toBe('completed');
    const { uri = '', expiresAt = '' } = made.ref ?? {};
    expect(Date.parse(expiresAt)).toBe(now.getTime() + 60_000);
    const desk = (await world.clientOf('desk')).master();
    expect(Buffer.from((await desk.getContent(uri)).bytes).toString()).toBe('a,b');
    pass(60);
    await expect(desk.getContent(uri)).rejects.toMatchObject({ code: 'gone' });
  });

  it('is not taken where it may not lie, and the attempt fails with the reason', async () => {
    await world.serve(putting({ region: 'us' }));
    const { status, subtasks } = await world.run(plan, []);
    expect(status).toBe('failed');
    expect(subtasks[0]?.attempts[0]?.reason).toContain('may lie in us alone');
  });

  it('and is over before the Master looked is no result', async () => {
    await world.serve(putting({ keepSeconds: 1 }, () => pass(2)));
    const { status, subtasks } = await world.run(plan, []);
    expect(status).toBe('failed');
    expect(subtasks[0]?.attempts[0]?.reason).toContain('kept for a time that is over');
  });

  it.each(['keepSeconds=0', 'keepSeconds=soon', 'keepSeconds=315360001', 'region='])(
    'is refused over HTTP with %s',
    async (query) => {
      const response = await fetch(`${world.url}/outputs?taskId=t&name=x&mediaType=a/b&${query}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await world.keyOf('worker')}`,
          'content-type': 'application/octet-stream',
        },
        body: 'x',
      });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(query.split('=')[0]);
    },
  );
});

describe('what is offered', () => {
  it('for less than the deadline is not handed over', async () => {
    await world.serve(putting({}));
    const desk = (await world.clientOf('desk')).master();
    await world.run(plan, []);
    const { activity } = await desk.locate(made.task ?? '');
    const put = (keepSeconds: number) =>
      desk.putContent({
        activity,
        resource: desk.newId('resource'),
        mediaType: 'text/plain',
        bytes: Buffer.from('noted'),
        keepSeconds,
      });
    const short = await world.run(reading(), [notes(await put(10))]);
    expect(short.subtasks[0]?.attempts[0]?.reason).toMatch(
      /notes is served until .*, before the deadline/,
    );
    const long = await world.run(reading({ timeoutSeconds: 5 }), [notes(await put(10))]);
    expect(long.subtasks[0]?.attempts[0]?.reason).toBeUndefined();
  });
});
