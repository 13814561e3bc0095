import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { HubClient } from '../../client/index.ts';
import { commandsIn, makeCase } from '../conformance.ts';
import { startCollector, type ReceivedSpan } from './conformance.ts';

// Processes take their time to start on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'throughline-'));
const { tellJson } = commandsIn(folder);
const upSchema = z.object({ url: z.url(), metrics: z.url() });

/** Everything that must stay out of log, figures and spans. */
const secrets: string[] = [];
const personal = [
  'Priya',
  'priya',
  'Sharma',
  'cash back',
  'four purchases',
  'hunter2',
  'High Street',
];
const seen = { log: '', figures: '', spans: '' };
let byKey: { status: number; text: string };
let strangers: number[];

async function serve(endpoint: string) {
  const words = ['serve', '--port', '0', '--metrics-port', '0', '--log-level', 'debug', '--json'];
  const child = spawn(process.execPath, [main, ...words, '--data', folder], {
    env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '100' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (seen.log += text));
  const [line]: unknown[] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, ...upSchema.parse(JSON.parse(String(line))) };
}

async function makeKey(id: string, role: string): Promise<string> {
  const { key } = await tellJson('key', 'create', id, '--role', role);
  const made = z.string().parse(key);
  secrets.push(made);
  return made;
}

/** What a hub meets in a day: work, pages, content, and requests that are out of order. */
async function useHub(url: string): Promise<void> {
  const [desk, reader, priya] = [
    await makeKey('desk', 'agent'),
    await makeKey('reader', 'agent'),
    await makeKey('priya', 'caller'),
  ];
  const client = (key: string) => new HubClient({ url, key });
  const made = await makeCase({
    desk: client(desk),
    reader: client(reader),
    deskKey: desk,
    priyaKey: priya,
  });
  secrets.push(made.contextId, made.run, made.subtask);
  const master = client(desk).master();
  const view = await client(priya).caseView(made.contextId);
  const activity = view.activities[0]?.id ?? '';
  secrets.push(activity);
  const bytes = new TextEncoder().encode('Priya Sharma, 12 High Street');
  const resource = master.newId('resource');
  const content = await master.putContent({ activity, resource, mediaType: 'text/plain', bytes });
  const token = await master.readToken({ uris: [content.uri], audience: 'reader', seconds: 60 });
  secrets.push(token, content.uri);
  await client(reader).ports().getContent(content.uri, token);
  const { url: page } = await tellJson('page');
  const [, code = ''] = z.string().parse(page).split('#code=');
  secrets.push(code);
  const json = { 'Content-Type': 'application/json', Origin: url };
  const opened = await fetch(`${url}/sessions`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ code }),
  });
  const [cookie = ''] = (opened.headers.get('Set-Cookie') ?? '').split(';');
  secrets.push(cookie.split('=')[1] ?? '');
  await fetch(`${url}/cases?text=priya`, { headers: { Cookie: cookie, Origin: url } });
  const headers = {
    ...json,
    Authorization: 'Bearer hunter2',
    'X-Request-Id': 'hunter2',
    DPoP: 'hunter2',
    traceparent: '00-hunter2',
  };
  for (const path of ['/cases/hunter2', '/hunter2?token=hunter2', '/agents/hunter2']) {
    await fetch(url + path, { method: 'POST', headers, body: '{"priya": "hunter2"' });
    await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, Authorization: `Bearer ${priya}` },
      body: '{"priya": "hunter2"',
    });
  }
}

async function read(url: string, key?: string): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> =
    key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const response = await fetch(url, { headers });
  return { status: response.status, text: await response.text() };
}

const collector = await startCollector();

beforeAll(async () => {
  const hub = await serve(collector.url);
  await useHub(hub.url);
  seen.figures = (await read(hub.metrics)).text;
  const local = readFileSync(join(folder, 'local.key'), 'utf8').trim();
  secrets.push(local);
  byKey = await read(`${hub.url}/metrics`, local);
  const { status } = await read(`${hub.url}/metrics`);
  const caller = await read(`${hub.url}/metrics`, secrets[2]);
  const rebound = await fetch(hub.metrics, { headers: { Origin: 'https://evil.example' } });
  strangers = [status, caller.status, rebound.status, (await read(`${hub.metrics}x`)).status];
  hub.child.kill('SIGTERM');
  await once(hub.child, 'close');
  seen.spans = collector.texts.join('\n');
});

afterAll(() => {
  collector.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a hub’s log', () => {
  it('is one JSON object a line, with a line for each request and its route', () => {
    const lines = seen.log
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    const requests = z
      .array(
        z.object({ method: z.string(), route: z.string(), status: z.int(), requestId: z.uuid() }),
      )
      .parse(
        lines.filter(
          (line) =>
            z.object({ msg: z.literal('request'), route: z.string() }).safeParse(line).success,
        ),
      );
    const routes = new Set(requests.map(({ method, route }) => `${method} ${route}`));
    for (const route of [
      'POST /admissions',
      'PUT /tasks/{id}',
      'POST /sessions',
      'GET /content/{id}',
    ]) {
      expect(routes).toContain(route);
    }
  });
});

describe('log, figures and spans', () => {
  it.each(['log', 'figures', 'spans'] as const)(
    '%s hold no secret, no id and no word of people',
    (name) => {
      expect(seen[name].length).toBeGreaterThan(1_000);
      expect(secrets.length).toBeGreaterThan(10);
      for (const secret of [...secrets, ...personal]) {
        expect(secret).not.toBe('');
        if (name === 'spans' && /^(ctx|tsk|act|dlg|rel|rsc)_/.test(secret)) continue;
        expect({ name, secret, found: seen[name].includes(secret) }).toEqual({
          name,
          secret,
          found: false,
        });
      }
    },
  );
});

describe('the figures', () => {
  it('are read on their own port, or with the key of the folder’s operator, and by nobody else', () => {
    expect(byKey.status).toBe(200);
    expect(byKey.text).toContain('http_server_request_duration_bucket');
    expect(strangers).toEqual([401, 404, 403, 404]);
  });

  it.each([
    /^http_server_request_duration_count\{.*http_route="\/admissions".*\} [1-9]/m,
    /^throughline_admissions_total\{.*outcome="new".*\} [1-9]/m,
    /^throughline_assertions_total(\{.*\})? [1-9]\d/m,
    /^throughline_store_commit_duration_count(\{.*\})? [1-9]/m,
    /^throughline_store_commit_writes_sum(\{.*\})? [1-9]/m,
    /^throughline_store_waiting(\{.*\})? 0$/m,
    /^throughline_tasks_saved_total\{.*state="in-progress".*\} [1-9]/m,
    /^throughline_handover_tokens_total\{.*type="sent".*\} 812$/m,
    /^throughline_handover_tokens_total\{.*type="after_compression".*\} 175$/m,
    /^process_memory_usage(\{.*\})? [1-9]\d{6}/m,
    /^process_uptime(\{.*\})? \d/m,
    /^nodejs_eventloop_delay_p99(\{.*\})? \d/m,
    /^target_info\{.*service_version="/m,
  ])('hold %s', (line) => {
    expect(seen.figures).toMatch(line);
  });
});

describe('the spans', () => {
  it('tell of a request, what the hub did, and what it wrote, one inside the other', () => {
    const byId = new Map(collector.spans.map((span) => [span.spanId, span]));
    const chains = collector.spans.map((span) => {
      const names: string[] = [];
      let at: ReceivedSpan | undefined = span;
      for (; at !== undefined; at = byId.get(at.parentSpanId ?? '')) names.push(at.name);
      return names.join(' < ');
    });
    expect(chains).toContain('store.write < hub.admit < POST /admissions');
    expect(new Set(collector.spans.map(({ service }) => service))).toEqual(
      new Set(['throughline-hub']),
    );
  });
});
