import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createForeignContent, type ForeignOptions } from '../../agent/index.ts';
import type { ForeignStores, OfferedContent, RunReport } from '../../master/index.ts';
import { listed, OtherStores } from '../../transports/conformance.ts';
import { Handing, notes, reader, reading } from './conformance.ts';

let world: Handing;
const others = new OtherStores();
/** What stores were asked: path and token. */
const asked: [path: string | undefined, token: unknown][] = [];
beforeEach(async () => {
  world = await Handing.open();
  asked.length = 0;
});
afterEach(async () => {
  await world.close();
  others.close();
});

/** A store of somebody else; gives its origin, by a name that only the tests resolve. */
async function store(answer: RequestListener | string): Promise<string> {
  const port = await others.open((request, response) => {
    asked.push([request.url, request.headers['throughline-content-token']]);
    if (typeof answer === 'string') response.end(answer);
    else answer(request, response);
  });
  return `http://store.test:${port}`;
}

const stores = (
  more: Partial<ForeignStores> = {},
  options: Partial<ForeignOptions> = {},
): ForeignStores => ({ content: createForeignContent({ ...listed, ...options }), ...more });

const digestOf = (text: string): string =>
  `sha-256:${createHash('sha256').update(text).digest('hex')}`;

/** A run with one worker that reads what it is handed, and what came of it. */
async function handed(
  content: OfferedContent['content'],
  by: ForeignStores | undefined,
  plan = reading(),
): Promise<RunReport> {
  await world.serve(reader, { foreign: createForeignContent(listed) });
  return world.run(plan, [notes(content)], by === undefined ? {} : { stores: by });
}
const saidBy = ({ subtasks }: RunReport): string | undefined =>
  subtasks[0]?.keyInformation[0]?.outputabstract;
const reasonOf = ({ subtasks }: RunReport): string | undefined =>
  subtasks[0]?.attempts.at(-1)?.reason;

const tokenFor = (_uri: string, who: string): string => `for ${who}`;

describe('an item that lies in another store', () => {
  it('is handed over as it is: the agent reads it there, with a token of that store alone', async () => {
    const origin = await store('far notes');
    const uri = `${origin}/notes?version=3`;
    const report = await handed({ uri }, stores({ token: tokenFor }));
    expect(saidBy(report)).toBe('far notes');
    // When it was offered, before it was handed over, and by the agent.
    expect(asked).toEqual([
      ['/notes?version=3', 'for desk'],
      ['/notes?version=3', 'for desk'],
      ['/notes?version=3', 'for worker'],
    ]);
    const desk = await world.clientOf('desk');
    const texts = await desk.handoverTexts(
      report.runId,
      report.subtasks[0]?.attempts[0]?.task ?? '',
    );
    expect(texts.sent).toContain(uri);
    expect(texts.sent).toContain('far notes');
    expect(JSON.stringify(texts)).not.toMatch(/for worker|for desk/);
  });

  it('is not read when it is offered, where its digest and size are known', async () => {
    const origin = await store('far notes');
    const known = { uri: `${origin}/x`, digest: digestOf('far notes'), size: 9 };
    expect(saidBy(await handed(known, stores()))).toBe('far notes');
    expect(asked).toHaveLength(2);
  });

  it('is looked at once for attempts that follow each other', async () => {
    const origin = await store('far notes');
    let calls = 0;
    await world.serve(
      async (context, io) => {
        calls += 1;
        if (calls === 1) throw new Error('not this time');
        return reader(context, io);
      },
      { foreign: createForeignContent(listed) },
    );
    const at = { uri: `${origin}/x`, digest: digestOf('far notes'), size: 9 };
    const by = { stores: stores({ token: tokenFor }) };
    const report = await world.run(reading({ attempts: 2 }), [notes(at)], by);
    expect(report.status).toBe('completed');
    expect(report.subtasks[0]?.attempts).toHaveLength(2);
    expect(asked.filter(([, who]) => who === 'for desk')).toHaveLength(1);
  });

  it('is taken into the hub’s store where the policy says so, and no URI of it is kept', async () => {
    const origin = await store('far notes');
    const report = await handed({ uri: `${origin}/x?sig=s3cret` }, stores({ policy: 'take' }));
    expect(saidBy(report)).toBe('far notes');
    expect(asked).toHaveLength(1);
    const user = await world.clientOf('priya', 'caller');
    const told = await user.timeline(report.runId);
    expect(JSON.stringify(told)).toContain(`${world.url}/content/res_`);
    expect(JSON.stringify([told, report])).not.toMatch(/s3cret|store\.test/);
  });

  it('is waited for while its store is away', async () => {
    let calls = 0;
    const origin = await store((_request, response) => {
      calls += 1;
      if (calls === 2) response.writeHead(503).end();
      else response.end('far notes');
    });
    expect(saidBy(await handed({ uri: `${origin}/x` }, stores()))).toBe('far notes');
    expect(calls).toBe(4);
  });
});

describe('an item in another store', () => {
  it('reaches an agent that knows nothing of AgentContexts by value', async () => {
    const origin = await store('far notes');
    const told: string[] = [];
    await world.serve({
      onMessage: ({ text, parts }) => {
        told.push(text, JSON.stringify(parts));
        return { text: 'I read it' };
      },
    });
    const report = await world.run(reading(), [notes({ uri: `${origin}/x` })], {
      stores: stores(),
    });
    expect(report.status).toBe('completed');
    expect(told.join()).toContain('far notes');
    expect(told.join()).not.toContain(origin);
  });

  it('that went away after it was handed over costs no result, whoever goes on with the run', async () => {
    let isThere = true;
    const origin = await store((_request, response) => {
      if (isThere) response.end('far notes');
      else response.writeHead(410).end();
    });
    const { promise: gate, resolve: letGo } = Promise.withResolvers<undefined>();
    const { promise: isRead, resolve: read } = Promise.withResolvers<undefined>();
    await world.serve(
      async (context, io) => {
        await reader(context, io);
        read(undefined);
        await gate;
      },
      { foreign: createForeignContent(listed) },
    );
    const stop = new AbortController();
    const offered = [notes({ uri: `${origin}/x` })];
    const { signal } = stop;
    const first = world.run(reading(), offered, { stores: stores() }, { signal });
    await isRead;
    stop.abort(new Error('killed'));
    await expect(first).rejects.toThrow();
    isThere = false;
    const second = await world.master({ stores: stores() });
    const [runId = ''] = await second.openRuns();
    const resumed = second.resume(runId);
    letGo(undefined);
    const report = await resumed;
    expect(report.status).toBe('completed');
    expect(saidBy(report)).toBe('far notes');
  });
});

describe('nothing is asked for, and no run begins, with an item', () => {
  it.each([
    ['of a host that is not listed', 'https://elsewhere.test/x', /not on the list/],
    ['of a file', 'file:///etc/passwd', /scheme is not https/],
    ['at a link-local address', 'http://169.254.169.254/latest', /store that is trusted/],
    ['at loopback', 'https://127.0.0.1/x', /store that is trusted/],
    ['with a password', 'https://me:s3cret@store.test/x', /user name or password/],
    ['with a signature', 'https://store.test/x?X-Amz-Signature=s3cret', /holds a secret/],
    ['with a token', 'https://store.test/x?access_token=s3cret', /holds a secret/],
  ])('%s', async (_, uri, reason) => {
    const run = handed({ uri }, stores());
    await expect(run).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/^Context item notes/),
    });
    await expect(run).rejects.toThrow(reason);
    await expect(run).rejects.not.toThrow(/s3cret/);
    expect(await (await world.clientOf('desk')).master().openRuns()).toEqual([]);
  });

  it('where the Master trusts no other store', async () => {
    const origin = await store('x');
    const run = handed({ uri: `${origin}/x` }, undefined);
    await expect(run).rejects.toThrow(/trusts none but its hub’s/);
    expect(asked).toEqual([]);
  });

  it('that is not what it is said to be', async () => {
    const origin = await store('far notes');
    const at = { uri: `${origin}/x` };
    const wrong = handed({ ...at, digest: digestOf('near notes') }, stores());
    await expect(wrong).rejects.toMatchObject({ code: 'damaged' });
    const longer = world.run(reading(), [notes({ ...at, size: 3 })], { stores: stores() });
    await expect(longer).rejects.toMatchObject({ code: 'too-large' });
    const shorter = world.run(reading(), [notes({ ...at, size: 30 })], { stores: stores() });
    await expect(shorter).rejects.toMatchObject({ code: 'damaged' });
  });

  it('that its store does not open, or that is not there', async () => {
    const origin = await store((request, response) =>
      response.writeHead(request.url === '/over' ? 410 : 404).end(),
    );
    const run = handed({ uri: `${origin}/missing` }, stores());
    await expect(run).rejects.toMatchObject({ code: 'not-found' });
    const over = world.run(reading(), [notes({ uri: `${origin}/over` })], { stores: stores() });
    await expect(over).rejects.toMatchObject({ code: 'gone' });
  });
});

const known = (origin: string, more: object = {}) => ({
  uri: `${origin}/x`,
  digest: digestOf('far notes'),
  size: 9,
  ...more,
});
/** That the attempt failed with that reason before anything went out. */
const unsent = async (run: Promise<RunReport>, reason: RegExp): Promise<void> => {
  const report = await run;
  expect(report.status).toBe('failed');
  expect(reasonOf(report)).toMatch(reason);
  expect(report.subtasks[0]?.attempts[0]?.tokens).toBeUndefined();
  expect(world.faults).toEqual([]);
};

describe('nothing is sent of an item', () => {
  it('that is served for less than the deadline', async () => {
    const origin = await store('far notes');
    const soon = new Date(Date.now() + 60_000).toISOString();
    await unsent(handed(known(origin, { expiresAt: soon }), stores()), /served until .* before/);
    expect(asked).toEqual([]);
  });

  it('that was changed since it was offered', async () => {
    const origin = await store('bad notes');
    await unsent(handed(known(origin), stores()), /no longer has the content/);
  });

  it('that leads to a machine behind', async () => {
    let inside = 0;
    const hidden = await store((_request, response) => {
      inside += 1;
      response.end('far notes');
    });
    const port = new URL(hidden).port;
    const origin = await store((_request, response) =>
      response.writeHead(302, { Location: `http://127.0.0.1:${port}/` }).end(),
    );
    await unsent(handed(known(origin), stores()), /it leads elsewhere/);
    const follows = stores({}, { redirects: 3 });
    const run = world.run(reading(), [notes(known(origin))], { stores: follows });
    await unsent(run, /may not be called/);
    expect(inside).toBe(0);
  });

  it('whose name comes to mean another machine', async () => {
    const origin = await store('far notes');
    const answers = ['127.0.0.1', '10.0.0.1'];
    const resolve = () => Promise.resolve([answers.shift() ?? '10.0.0.1']);
    const run = handed({ uri: `${origin}/x` }, stores({}, { resolve }));
    await unsent(run, /leads to a private address/);
    expect(asked).toHaveLength(1);
  });

  it('whose store stays away until the deadline', async () => {
    const origin = await store((_request, response) => response.writeHead(503).end());
    const plan = reading({ timeoutSeconds: 0.5 });
    await unsent(handed(known(origin), stores(), plan), /answered with 503/);
  });
});
