import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bank } from '../bank.ts';
import { checkResultSchema, type CheckResult } from '../checked-rows.ts';
import { expectedCases } from '../expected.ts';
import { deskCases } from '../cases.ts';
import { readPolicy } from '../policy.ts';
import { hasPython, startChecker, type RunningChecker, type Twin } from './run-checker.ts';

const replySchema = z.object({
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
const taskSchema = z.object({
  id: z.string(),
  contextId: z.string(),
  status: z.object({ state: z.string(), timestamp: z.string() }),
  artifacts: z.array(z.object({ parts: z.array(z.object({ data: z.unknown() })) })).optional(),
});
type Task = z.infer<typeof taskSchema>;
type Reply = z.infer<typeof replySchema>;

let sequence = 0;

async function post(url: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  return fetch(`${url}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body,
  });
}

async function rpc(url: string, method: string, params: unknown): Promise<Reply> {
  sequence += 1;
  const response = await post(
    url,
    JSON.stringify({ jsonrpc: '2.0', id: sequence, method, params }),
  );
  return replySchema.parse(await response.json());
}

const work = (parts: unknown[], extra: Record<string, unknown> = {}): Record<string, unknown> => {
  sequence += 1;
  return { messageId: `message-${sequence}`, role: 'ROLE_USER', parts, ...extra };
};

async function sent(url: string, message: unknown, configuration?: unknown): Promise<Task> {
  const reply = await rpc(url, 'SendMessage', { message, configuration });
  return taskSchema.parse(z.object({ task: z.unknown() }).parse(reply.result).task);
}

const complaint = 'Some of my cash back rewards look wrong. Can you check?';

function partsFor(userId: string): unknown[] {
  const holdings = bank().holdings(userId);
  const policy = readPolicy(complaint, holdings);
  const terms = policy.terms.map(({ documentId, quote, card }) => ({ documentId, quote, card }));
  return [
    { text: 'Recompute the rewards of these transactions by these terms.' },
    { data: { transactions: bank().cardTransactions(userId), cards: holdings.cards } },
    { data: { terms } },
  ];
}

async function checked(url: string, parts: unknown[]): Promise<CheckResult> {
  const task = await sent(url, work(parts));
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  return checkResultSchema.parse(task.artifacts?.[0]?.parts[0]?.data);
}

const holders = bank()
  .customers()
  .filter((customer) => bank().cardTransactions(customer.user_id).length > 0)
  .map((customer) => customer.user_id);
const priya = 'af0581dcbf';
const twins: Twin[] = ['node', 'python'];
const python = hasPython();
if (!python) {
  console.error('NO python3 (3.11 or later) HERE: the account checker in Python is NOT tested');
}

describe.each(twins)('the account checker in %s', (twin) => {
  describe.skipIf(twin === 'python' && !python)('as a plain A2A agent', () => {
    let checker: RunningChecker;
    beforeAll(async () => {
      checker = await startChecker(twin);
    });
    afterAll(() => checker.stop());

    it('shows a card with a JSON-RPC interface of A2A 1.0', async () => {
      const response = await fetch(`${checker.url}/.well-known/agent-card.json`);
      expect(await response.json()).toMatchObject({
        supportedInterfaces: [
          { url: `${checker.url}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        ],
      });
    });

    it('finds exactly the four transactions of the story, each with its rule', async () => {
      const result = await checked(checker.url, partsFor(priya));
      expect(result.checked).toBe(23);
      const found = result.rows.map((row) => [row.merchant, row.expected, row.paid, row.missing]);
      expect(found).toEqual([
        ['Thrive Market', 875, 175, 700],
        ['Uber', 600, 240, 360],
        ['Tentree', 1000, 600, 400],
        ['Nordstrom', 800, 775, 25],
      ]);
      expect(result.rows.map((row) => row.rule.quote)).toContain(
        'Earn 2.5% cash back on all purchases.',
      );
    });

    it('finds exactly the disputed transactions of every case that has some', async () => {
      const cases = new Map(deskCases().map((one) => [one.id, one]));
      const disputed = expectedCases().filter((one) => one.disputedTransactions !== undefined);
      expect(disputed.length).toBe(7);
      for (const one of disputed) {
        const customer = cases.get(one.id)?.customer ?? '';
        const result = await checked(checker.url, partsFor(customer));
        const ids = result.rows.map((row) => row.transaction_id);
        expect(ids.toSorted(), one.id).toEqual(one.disputedTransactions?.toSorted());
      }
    });

    it('says which transactions it has no term for', async () => {
      const [text, transactions] = partsFor(priya);
      const result = await checked(checker.url, [text, transactions, { data: { terms: [] } }]);
      expect(result.checked).toBe(0);
      expect(result.notAnswerable).toHaveLength(23);
      expect(result.notAnswerable[0]?.why).toContain('no term given');
    });

    it('rejects data it cannot read and says why', async () => {
      const parts = [{ data: { transactions: [{ transaction_id: 7 }], terms: [] } }];
      const reply = await rpc(checker.url, 'SendMessage', { message: work(parts) });
      expect(reply.result).toMatchObject({
        task: {
          status: {
            state: 'TASK_STATE_REJECTED',
            message: { parts: [{ text: 'transactions[0].transaction_id must be a string' }] },
          },
        },
      });
    });

    it('makes a context, takes it again, and refuses one it did not make', async () => {
      const first = await sent(checker.url, work(partsFor(priya)));
      const again = await sent(checker.url, work(partsFor(priya), { contextId: first.contextId }));
      expect(again.contextId).toBe(first.contextId);
      expect(again.id).not.toBe(first.id);
      const foreign = work(partsFor(priya), { contextId: 'made-elsewhere' });
      const refused = await rpc(checker.url, 'SendMessage', { message: foreign });
      expect(refused.error?.code).toBe(-32602);
    });

    it('lists by context, newest first, page by page, artifacts only on request', async () => {
      const first = await sent(checker.url, work(partsFor(priya)));
      const second = await sent(checker.url, work(partsFor(priya), { contextId: first.contextId }));
      const filter = { contextId: first.contextId, pageSize: 1 };
      const page = await rpc(checker.url, 'ListTasks', filter);
      expect(page.result).toMatchObject({
        tasks: [{ id: second.id }],
        nextPageToken: second.id,
        totalSize: 2,
      });
      expect(JSON.stringify(page.result)).not.toContain('artifactId');
      const rest = { ...filter, pageToken: second.id, includeArtifacts: true };
      const last = await rpc(checker.url, 'ListTasks', rest);
      expect(last.result).toMatchObject({ tasks: [{ id: first.id }], nextPageToken: '' });
      expect(JSON.stringify(last.result)).toContain('artifactId');
      const none = await rpc(checker.url, 'ListTasks', { contextId: 'unknown' });
      expect(none.result).toMatchObject({ tasks: [], totalSize: 0 });
    });

    it('answers the same message twice with one task', async () => {
      const message = work(partsFor(priya));
      const [first, second] = [await sent(checker.url, message), await sent(checker.url, message)];
      expect(second.id).toBe(first.id);
    });

    it('refuses to cancel or continue an ended task', async () => {
      const task = await sent(checker.url, work(partsFor(priya)));
      expect((await rpc(checker.url, 'CancelTask', { id: task.id })).error?.code).toBe(-32002);
      const more = work(partsFor(priya), { taskId: task.id });
      expect((await rpc(checker.url, 'SendMessage', { message: more })).error?.code).toBe(-32004);
      const other = work(partsFor(priya), { taskId: task.id, contextId: 'another' });
      expect((await rpc(checker.url, 'SendMessage', { message: other })).error?.code).toBe(-32602);
    });

    const bad: [string, string | Uint8Array, number][] = [
      ['no JSON', '{', -32700],
      ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), -32700],
      ['a number that is none', '{"jsonrpc":"2.0","id":NaN,"method":"GetTask"}', -32700],
      ['a batch', '[]', -32600],
      ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600],
      ['no id', '{"jsonrpc":"2.0","method":"GetTask"}', -32600],
      ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"toString"}', -32601],
      ['params of another type', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602],
      [
        'an unknown task',
        '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"\\ud800"}}',
        -32001,
      ],
      [
        'a message that is none',
        '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}',
        -32602,
      ],
      ['streaming', '{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage"}', -32004],
      [
        'a page of size 0',
        '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":0}}',
        -32602,
      ],
      [
        'a state that is none',
        '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"status":"X"}}',
        -32602,
      ],
    ];
    it.each(bad)('answers %s with its error', async (_name, body, code) => {
      const response = await post(checker.url, body);
      const reply = replySchema.parse(await response.json());
      expect(reply.error?.code).toBe(code);
    });

    it('refuses other protocol versions, media types and bodies over the limit', async () => {
      const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks' });
      const older = await post(checker.url, call, { 'a2a-version': '0.3' });
      expect(replySchema.parse(await older.json()).error?.code).toBe(-32009);
      expect((await post(checker.url, call, { 'content-type': 'text/plain' })).status).toBe(415);
      const large = await post(checker.url, JSON.stringify('x'.repeat(1_100_000)));
      expect(large.status).toBe(413);
    });
  });

  it.skipIf(twin === 'python' && !python)(
    'is slow on request and can be canceled then',
    async () => {
      const checker = await startChecker(twin, ['--delay-ms', '60000']);
      try {
        const message = work(partsFor(priya));
        const task = await sent(checker.url, message, { returnImmediately: true });
        expect(task.status.state).toBe('TASK_STATE_WORKING');
        const canceled = await rpc(checker.url, 'CancelTask', { id: task.id });
        expect(canceled.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
      } finally {
        await checker.stop();
      }
    },
  );
});

it.skipIf(!python)('gives equal answers in Python and Node for every customer', async () => {
  const [one, other] = await Promise.all(twins.map((twin) => startChecker(twin)));
  if (one === undefined || other === undefined) throw new Error('a twin did not start');
  try {
    expect(holders.length).toBe(12);
    for (const userId of holders) {
      const parts = partsFor(userId);
      expect(await checked(other.url, parts), userId).toEqual(await checked(one.url, parts));
      // Half of the terms left out: equal too in what can't be answered.
      const terms = z.object({ data: z.object({ terms: z.array(z.unknown()) }) }).parse(parts[2]);
      const half = terms.data.terms.filter((_, index) => index % 2 === 0);
      const fewer = [parts[0], parts[1], { data: { terms: half } }];
      expect(await checked(other.url, fewer), userId).toEqual(await checked(one.url, fewer));
    }
  } finally {
    await Promise.all([one.stop(), other.stop()]);
  }
});

const made = (changes: Record<string, string>): Record<string, string> => ({
  transaction_id: 'txn_1',
  card: 'Test Card',
  amount: '$100.00',
  category: 'Dining',
  merchant: 'Somewhere',
  date: '03/15/2025',
  status: 'COMPLETED',
  rewards_earned: '0 points',
  ...changes,
});
const quotes = (...texts: string[]): unknown[] =>
  ['1 point = $0.01 (1 cent per point).', ...texts].map((quote) => ({ documentId: 'doc', quote }));

const readings: [string, Record<string, string>, string[], number | string][] = [
  ['a flat rate', {}, ['You earn 1.5% cash back on all purchases.'], 150],
  [
    'a category rate beside the rest',
    { category: 'Travel' },
    ['Travel purchases earn 4%.', 'Purchases outside those categories earn 1%.'],
    400,
  ],
  [
    'two rates in one sentence',
    { category: 'Sustainable' },
    ['Purchases at sustainable merchants earn 3.0%, while all other purchases earn 1.0%.'],
    300,
  ],
  [
    'an excluded merchant',
    { category: 'Software', merchant: 'Dell Technologies' },
    [
      'Earn 10.0% cash back on software purchases',
      'The following merchants do NOT earn the 10.0% bonus and instead earn the standard 1.0% rate:\n- Dell',
    ],
    100,
  ],
  [
    'a name that only begins like an excluded one',
    { category: 'Travel', merchant: 'Delta Airlines' },
    [
      'Earn 10.0% cash back on travel purchases',
      'The following merchants do NOT earn the 10.0% bonus and instead earn the standard 1.0% rate:\n- Del',
    ],
    1000,
  ],
  [
    'a charging network outside the partners',
    { category: 'Green', merchant: 'Blink Charging' },
    [
      'Green purchases: Earn 5 points per dollar.',
      'Other purchases: Earn 1 point per dollar.',
      'EV charging only qualifies for green rewards when using a partner network: Tesla Supercharger, or EVgo.',
    ],
    100,
  ],
  ['a fraction, cut off', { amount: '$99.99' }, ['You earn 2.5% cash back on all purchases.'], 249],
  [
    'an amount with a comma',
    { amount: '$1,247.99' },
    ['You earn 1% cash back on all purchases.'],
    1247,
  ],
  [
    'terms that disagree',
    {},
    ['You earn 1% cash back on all purchases.', 'You earn 2% cash back on all purchases.'],
    'the terms given state different rates',
  ],
  [
    'a subscription whose age is unknown',
    { merchant: 'Slack' },
    [
      'You earn 1% cash back on all purchases.',
      'The following merchants earn **0% cash back**:\n**SaaS (after first 12 months only):**\n- Slack',
    ],
    'the terms depend on how long the subscription has run',
  ],
  ['an interest rate', {}, ['Purchase APR is 16.99% and you earn points.'], 'no term given'],
  [
    'an unsettled purchase',
    { status: 'PENDING' },
    ['You earn 1% cash back on all purchases.'],
    'not completed',
  ],
];

describe.each(twins)('reading terms in %s', (twin) => {
  describe.skipIf(twin === 'python' && !python)('from sentences alone', () => {
    let checker: RunningChecker;
    beforeAll(async () => {
      checker = await startChecker(twin);
    });
    afterAll(() => checker.stop());

    it.each(readings)('understands %s', async (_name, changes, texts, expected) => {
      const parts = [
        { data: { transactions: [made(changes)] } },
        { data: { terms: quotes(...texts) } },
      ];
      const result = await checked(checker.url, parts);
      if (typeof expected === 'number') expect(result.rows[0]?.expected).toBe(expected);
      else expect(result.notAnswerable[0]?.why).toContain(expected);
    });

    const promo = [
      'You earn 1% cash back on all purchases.',
      'New customers can earn 2x cash back on all purchases for the first 1 months after opening.',
      'Start date: 2025-01-01',
      'End date: 2025-03-05',
    ];
    const opening: [string, string, number][] = [
      ['within its months', '03/01/2025', 200],
      ['after its months', '02/15/2025', 100],
      ['for a card opened outside its window', '03/10/2025', 100],
      ['before the card was opened', '03/16/2025', 100],
    ];
    it.each(opening)('applies a promotion right %s', async (_name, opened, expected) => {
      const cards = [{ card: 'Test Card', opened }];
      const parts = [
        { data: { transactions: [made({})], cards } },
        { data: { terms: quotes(...promo) } },
      ];
      const result = await checked(checker.url, parts);
      expect(result.rows[0]?.expected).toBe(expected);
    });
  });
});
