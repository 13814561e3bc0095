import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { limits } from '../model/limits.ts';
import { agent, named, nameOf, samples, send, sendText, StubHub } from './conformance.ts';
import { serveHub, type ServedHubHandle } from './serve.ts';

const hub = new StubHub();
let served: ServedHubHandle<StubHub>;
const table = samples(agent.id);

beforeAll(async () => {
  served = await serveHub({ hub, port: 0 });
});
afterAll(() => served.close());
beforeEach(() => hub.reset());

const problemSchema = z.object({ code: z.string(), status: z.int(), detail: z.string() });
const problemOf = async (response: Response) => problemSchema.parse(await response.json());

describe('input that is not in order', () => {
  const bad: readonly (readonly [what: string, value: string])[] = [
    ['1,000 characters', 'x'.repeat(1_000)],
    ['NUL', 'a\0b'],
    ['a path', '../../etc/passwd'],
    ['a Windows path', '..\\x'],
    ['an encoded path', 'a%2fb'],
    ['a line break', 'a\nb'],
  ];
  const withParams = named.filter(({ route }) => route.path.includes('{'));

  it.each(withParams)('$name refuses ids that are none', async ({ name, route }) => {
    const sample = table[name] ?? {};
    for (const param of Object.keys(sample.params ?? {})) {
      for (const [, value] of bad) {
        const changed = { ...sample, params: { ...sample.params, [param]: value } };
        const response = await send(served.url, route, changed, { key: 'agent' });
        expect(await problemOf(response)).toMatchObject({ code: 'invalid', status: 400 });
      }
    }
    expect(hub.reached).toEqual([]);
  });

  it.each(withParams)('$name refuses a path that is no UTF-8', async ({ name, route }) => {
    const path = route.path.replace(/\{\w+\}/, '%ED%A0%80').replaceAll(/\{\w+\}/g, 'x');
    const sample = table[name] ?? {};
    const response = await send(served.url, { ...route, path }, sample, { key: 'agent' });
    expect(await problemOf(response)).toMatchObject({ code: 'invalid' });
    expect(hub.reached).toEqual([]);
  });

  const wrong: readonly unknown[] = [
    null,
    true,
    1.5,
    -1,
    1e300,
    'x'.repeat(3_000),
    'a\0b',
    [],
    {},
    { __proto__: null, toString: 1 },
  ];
  const withBody = named.filter(({ name }) => table[name]?.json !== undefined);

  it.each(withBody)(
    '$name refuses fields of wrong types, unknown fields and missing ones',
    async ({ name, route }) => {
      const json = table[name]?.json ?? {};
      const bodies: unknown[] = [...wrong, { ...json, surprise: 1 }];
      for (const field of Object.keys(json)) {
        if (['reply', 'state', 'done'].includes(field)) continue;
        const { [field]: _, ...without } = json;
        if (!['label'].includes(field)) bodies.push({ ...json, [field]: [[{}]] });
        if (!['url', 'grantee'].includes(field)) bodies.push(without);
      }
      // Where every field may be left out, nothing is missing from an empty body.
      const isOptional = Object.keys(json).every((field) => ['cause', 'objective'].includes(field));
      const faulty = bodies.filter((body) => !isOptional || JSON.stringify(body) !== '{}');
      for (const body of faulty) {
        const response = await sendText(served.url, route, table[name] ?? {}, JSON.stringify(body));
        expect({ body, problem: await problemOf(response) }).toMatchObject({
          problem: { code: 'invalid', status: 400 },
        });
      }
      expect(hub.reached).toEqual([]);
    },
  );

  it.each(withBody)('$name refuses text that is no strict JSON', async ({ name, route }) => {
    const texts = [
      '',
      '{',
      '{}{}',
      '{"a":1,"a":2}',
      '{"a":"\\ud800"}',
      '['.repeat(50_000),
      `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`,
    ];
    for (const text of texts) {
      const response = await sendText(served.url, route, table[name] ?? {}, text);
      expect(await problemOf(response)).toMatchObject({ code: 'invalid', status: 400 });
    }
    expect(hub.reached).toEqual([]);
  });

  it.each(withBody)('$name refuses what is not declared as JSON', async ({ name, route }) => {
    for (const mediaType of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ]) {
      const headers = { 'Content-Type': mediaType };
      const response = await send(served.url, route, table[name] ?? {}, { key: 'agent', headers });
      expect(await problemOf(response)).toMatchObject({ code: 'invalid', status: 415 });
    }
    expect(hub.reached).toEqual([]);
  });

  it('refuses bodies beyond the limit, told beforehand or found while reading', async () => {
    const long = `{"drafts":"${'x'.repeat(limits.bodyBytes)}"}`;
    const route = { method: 'post', path: '/assertions' } as const;
    const told = await sendText(served.url, route, {}, long);
    expect(await problemOf(told)).toMatchObject({ code: 'too-large', status: 413 });
    const streamed = await fetch(`${served.url}/assertions`, {
      method: 'POST',
      headers: { Authorization: 'Bearer agent', 'Content-Type': 'application/json' },
      body: new Blob([long]).stream(),
      duplex: 'half',
    });
    expect(await problemOf(streamed)).toMatchObject({ code: 'too-large', status: 413 });
    expect(hub.reached).toEqual([]);
  });

  it.each(named)(
    '$name refuses a query that it does not know, or twice the same',
    async ({ name, route }) => {
      const sample = table[name] ?? {};
      const query = { ...sample.query, surprise: '1' };
      const unknown = await send(served.url, route, { ...sample, query }, { key: 'agent' });
      expect(await problemOf(unknown)).toMatchObject({ code: 'invalid' });
      const [first] = Object.entries(sample.query ?? {});
      if (first === undefined) return;
      const path = `${route.path}?${first[0]}=1&${first[0]}=2`;
      const twice = await send(
        served.url,
        { ...route, path },
        { ...sample, query: {} },
        { key: 'agent' },
      );
      expect(await problemOf(twice)).toMatchObject({ code: 'invalid' });
      expect(hub.reached).toEqual([]);
    },
  );

  it('refuses numbers in a query that are none, or beyond their bounds', async () => {
    for (const pageSize of [
      '0',
      '101',
      '1.5',
      '1e1',
      '',
      ' 5',
      '-1',
      '99999999999999999999',
      'x',
    ]) {
      const response = await fetch(`${served.url}/tasks?pageSize=${encodeURIComponent(pageSize)}`, {
        headers: { Authorization: 'Bearer agent' },
      });
      expect(await problemOf(response)).toMatchObject({ code: 'invalid' });
    }
    expect(hub.reached).toEqual([]);
  });

  it('says where it is wrong, and never repeats the value', async () => {
    const json = { ...table['post /admissions']?.json, messageId: 'secret\0value' };
    const response = await sendText(
      served.url,
      { method: 'post', path: '/admissions' },
      {},
      JSON.stringify(json),
    );
    const text = await response.text();
    expect(text).toContain('body.messageId');
    expect(text).not.toContain('secret');
  });

  it('answers any bytes and any JSON with a named error', async () => {
    // Where every field may be left out, an empty body is in order.
    const routes = withBody
      .map(({ route }) => route)
      .filter((route) => !route.body.safeParse({}).success);
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.json({ maxDepth: 6 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...routes), bodies, async (route, body) => {
        const response = await sendText(served.url, route, table[nameOf(route)] ?? {}, body);
        expect(await problemOf(response)).toMatchObject({ code: 'invalid', status: 400 });
      }),
      { numRuns: 200 },
    );
    expect(hub.reached).toEqual([]);
  });
});
