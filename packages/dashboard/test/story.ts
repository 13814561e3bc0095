import { HubClient } from 'throughline/client';
import type { DraftInput, Party } from 'throughline/model';

/** The people and agents of a case, each with a key of its own. */
export interface Cast {
  readonly url: string;
  readonly deskKey: string;
  readonly priyaKey: string;
  readonly checkerKey: string;
}

export interface Story {
  readonly contextId: string;
  readonly activity: string;
  readonly run: string;
  /** Waits for an authorization. */
  readonly stuck: string;
  /** Failed, and was replaced. */
  readonly failed: string;
  readonly terms: string;
  readonly finding: string;
}

const at = '2031-05-04T10:00:00Z';
const digest = `sha-256:${'0'.repeat(64)}`;
const priya: Party = { kind: 'user', name: 'Priya Sharma', principal: 'priya' };
const desk: Party = { kind: 'agent', name: 'Support desk', principal: 'desk' };
const agents = {
  reader: { kind: 'agent', name: 'Policy reader', url: 'https://policies.example/a2a' },
  checker: { kind: 'agent', name: 'Account checker', principal: 'checker' },
  writer: { kind: 'agent', name: 'Case writer', url: 'https://writer.example/a2a' },
} as const satisfies Record<string, Party>;

/** Keys for a cast, made by the hub's operator. */
export async function castOf(url: string, operatorKey: string): Promise<Cast> {
  const operator = new HubClient({ url, key: operatorKey });
  const key = async (id: string, role: 'agent' | 'caller'): Promise<string> =>
    (await operator.createKey({ principal: { tenant: 'local', id, role } })).key;
  return {
    url,
    deskKey: await key('desk', 'agent'),
    checkerKey: await key('checker', 'agent'),
    priyaKey: await key('priya', 'caller'),
  };
}

/** Lets a message of Priya's in, as the desk's process does; the run is in progress then. */
export async function open(
  cast: Cast,
  taskId: string,
  objective: string,
): Promise<{ contextId: string; activity: string; dialog: string; task: string }> {
  const agent = new HubClient({ url: cast.url, key: cast.deskKey });
  const credential = `Bearer ${cast.priyaKey}`;
  const caller = { principal: await agent.authenticate(credential), credential };
  const messageId = `m-${taskId}`;
  const request = { agent: 'desk', messageId, referenceTaskIds: [], payload: digest };
  const { contextId } = await agent.admit(caller, request);
  const where = {
    protocol: 'a2a',
    side: 'server',
    endpoint: 'http://127.0.0.1:1/',
    contextId,
    client: priya,
    server: desk,
    at,
  } as const;
  const record = {
    id: taskId,
    contextId,
    agent: 'desk',
    version: 0,
    state: 'in-progress',
    statusAt: at,
    messageId,
    body: {},
  } as const;
  await agent.saveTask(caller, record, [
    {
      ...where,
      kind: 'message',
      messageId,
      taskId,
      objective,
      referenceTaskIds: [],
      resources: [],
    },
    { ...where, kind: 'task', taskId, state: 'in-progress' },
  ]);
  return { contextId, ...(await agent.master().locate(taskId)) };
}

/** Short words for what a Master says. */
export function words(master: ReturnType<HubClient['master']>, activity: string) {
  const edge = (
    type: string,
    from: string,
    to: string,
    binding: { role?: string; note?: string } = {},
  ): DraftInput => ({
    about: master.newId('relationship'),
    statement: { says: 'relationship.asserted', type, from, to, ...binding },
  });
  return {
    edge,
    opened: (
      below: { dialog: string; task: string },
      pair: string[],
      objective: string,
      under: { dialog: string; task: string },
    ): DraftInput[] => [
      {
        about: below.dialog,
        statement: {
          says: 'dialog.opened',
          activity,
          participants: pair,
          managed: 'ours',
          objective,
        },
      },
      edge('delegated-from', below.dialog, under.dialog),
      { about: below.task, statement: { says: 'task.defined', dialog: below.dialog, objective } },
      edge('delegated-from', below.task, under.task),
    ],
    document: (id: string, name: string, mediaType: string, size: number): DraftInput => ({
      about: id,
      statement: { says: 'resource.known', activity, name, mediaType, size },
    }),
    ended: (task: string, state: 'completed' | 'failed'): DraftInput => ({
      about: task,
      statement: { says: 'task.state', state },
    }),
  };
}

const question =
  'My cash back looks wrong: four purchases were paid less than the 5 % that my Gold card promises';

/** Priya's case: three agents asked, one attempt that failed and was replaced, one that waits. */
export async function tellStory(cast: Cast): Promise<Story> {
  const run = await open(cast, 'run-cash-back', question);
  const master = new HubClient({ url: cast.url, key: cast.deskKey }).master();
  const people = {
    deskId: await master.participant(desk),
    reader: await master.participant(agents.reader),
    checker: await master.participant(agents.checker),
    writer: await master.participant(agents.writer),
  };
  const below = () => ({ dialog: master.newId('dialog'), task: master.newId('task') });
  const document = () => master.newId('resource');
  const made = {
    reading: below(),
    check: below(),
    retry: below(),
    writing: below(),
    terms: document(),
    excerpt: document(),
    purchases: document(),
    finding: document(),
    table: document(),
  };
  await master.assert(storyOf(words(master, run.activity), run, people, made));
  await tellHandovers(master, made);
  return {
    contextId: run.contextId,
    activity: run.activity,
    run: run.task,
    stuck: made.writing.task,
    failed: made.check.task,
    terms: made.terms,
    finding: made.finding,
  };
}

type Below = { readonly dialog: string; readonly task: string };
type People = Record<'deskId' | 'reader' | 'checker' | 'writer', string>;
type Made = Record<'reading' | 'check' | 'retry' | 'writing', Below> &
  Record<'terms' | 'excerpt' | 'purchases' | 'finding' | 'table', string>;

function storyOf(
  say: ReturnType<typeof words>,
  run: Below,
  { deskId, reader, checker, writer }: People,
  { reading, check, retry, writing, terms, excerpt, purchases, finding, table }: Made,
): DraftInput[] {
  return [
    say.document(terms, 'Gold card terms 2031', 'application/pdf', 481_220),
    say.document(excerpt, 'Gold card terms, section 4: cash back', 'text/plain', 3_104),
    say.document(purchases, 'Purchases of March and April', 'text/csv', 18_402),
    say.edge('derived-from', excerpt, terms),
    ...say.opened(
      reading,
      [deskId, reader],
      'Find the cash back terms that hold for her card',
      run,
    ),
    say.edge('input-to', terms, reading.task, { role: 'where to look', note: '698 documents' }),
    say.document(finding, 'Cash back rate and its exceptions', 'application/json', 912),
    say.edge('output-of', finding, reading.task, { role: 'finding' }),
    say.ended(reading.task, 'completed'),
    ...say.opened(check, [deskId, checker], 'Recompute the cash back for each purchase', run),
    say.edge('input-to', purchases, check.task, { role: 'to recompute' }),
    say.edge('input-to', finding, check.task, { role: 'the rule to apply' }),
    say.ended(check.task, 'failed'),
    ...say.opened(
      retry,
      [deskId, checker],
      'Recompute the cash back for each purchase, again',
      run,
    ),
    say.edge('replaces', retry.task, check.task),
    say.edge('input-to', purchases, retry.task, { role: 'to recompute' }),
    say.edge('input-to', finding, retry.task, { role: 'the rule to apply' }),
    say.document(table, 'Four purchases credited wrongly', 'text/csv', 640),
    say.edge('output-of', table, retry.task, { role: 'result' }),
    say.ended(retry.task, 'completed'),
    ...say.opened(writing, [deskId, writer], 'Write the credit note and have it approved', run),
    say.edge('input-to', table, writing.task, { role: 'what to credit' }),
    say.edge('input-to', excerpt, writing.task, { role: 'what it rests on' }),
    {
      about: writing.task,
      statement: { says: 'task.state', state: 'awaiting', awaiting: 'authorization' },
    },
    // Breaks a rule: kept as a conflict.
    { about: check.task, statement: { says: 'task.state', state: 'in-progress' } },
  ];
}

async function tellHandovers(
  master: ReturnType<HubClient['master']>,
  { reading, check, retry, writing }: Made,
): Promise<void> {
  const told = [
    [reading, 'reader', 1_204, 9_120, 310, ['date of birth', 'card number']],
    [check, 'checker', 2_410, 11_870, undefined, ['date of birth', 'card code', 'home address']],
    [retry, 'checker', 2_410, 12_044, 188, ['date of birth', 'card code', 'home address']],
    [writing, 'writer', 980, 13_960, undefined, ['card code', 'date of birth', 'income']],
  ] as const;
  for (const [{ dialog, task }, agent, sent, fullHistory, returned, withheld] of told) {
    await master.saveHandover(
      {
        task,
        dialog,
        agent,
        withheld: [...withheld],
        tokenizer: 'o200k_base',
        sent,
        fullHistory,
        ...(returned === undefined ? {} : { returned }),
      },
      { sent: `What ${agent} was sent.`, fullHistory: 'The whole history, which nobody was sent.' },
    );
  }
}
