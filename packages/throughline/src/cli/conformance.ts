import { z } from 'zod';
import type { HubClient } from '../client/index.ts';
import type { DraftInput } from '../model/assertion.ts';
import type { Observation, Party } from '../model/observation.ts';
import { run as runCommand } from './program.ts';

/** How a command ended. */
export interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** Commands on a data folder, run in this process; `tellJson` gives what `--json` wrote. */
export function commandsIn(folder: string) {
  const tell = async (...words: string[]): Promise<Ended> => {
    const written = { out: '', err: '' };
    const exitCode = await runCommand([...words, '--data', folder], {
      stdout: { write: (text: string) => (written.out += text) },
      stderr: { write: (text: string) => (written.err += text) },
      env: {},
    });
    return { exitCode, ...written };
  };
  const tellJson = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { out, err } = await tell(...words, '--json');
    if (err !== '') throw new Error(err);
    return z.looseObject({ version: z.literal(1) }).parse(JSON.parse(out));
  };
  return { tell, tellJson };
}

const at = '2030-01-01T00:00:00Z';
const digest = `sha-256:${'0'.repeat(64)}`;

/** Clients of the two that make the case, and the initiator’s API key. */
export interface Cast {
  readonly desk: HubClient;
  readonly reader: HubClient;
  readonly priyaKey: string;
  readonly deskKey: string;
}

export interface MadeCase {
  readonly contextId: string;
  /** The run’s Task, the subtask’s, and the one that waits for input. */
  readonly run: string;
  readonly subtask: string;
  readonly stuck: string;
  readonly found: string;
}

const priya: Party = { kind: 'user', name: 'Priya Sharma', principal: 'priya' };
const desk: Party = { kind: 'agent', name: 'support desk', principal: 'desk' };
const reader: Party = { kind: 'agent', name: 'policy reader', principal: 'reader' };
const question = 'My cash back looks wrong: four purchases paid less than the 5 % I was promised';

function told(
  contextId: string,
  taskId: string,
  objective: string,
  [client, server]: readonly [Party, Party],
): Observation[] {
  const where = {
    protocol: 'a2a',
    side: 'server',
    endpoint: 'http://127.0.0.1:1/',
    contextId,
    client,
    server,
    at,
  } as const;
  return [
    {
      ...where,
      kind: 'message',
      messageId: `m-${taskId}`,
      taskId,
      objective,
      referenceTaskIds: [],
      resources: [],
    },
    { ...where, kind: 'task', taskId, state: 'in-progress' },
  ];
}

/** Lets a message in and records the task that it makes, as an agent’s process does. */
async function begin(
  agent: HubClient,
  callerKey: string,
  task: { id: string; agent: string; objective: string; parties: readonly [Party, Party] },
): Promise<string> {
  const credential = `Bearer ${callerKey}`;
  const caller = { principal: await agent.authenticate(credential), credential };
  const messageId = `m-${task.id}`;
  const request = { agent: task.agent, messageId, referenceTaskIds: [], payload: digest };
  const { contextId } = await agent.admit(caller, request);
  await agent.saveTask(
    caller,
    {
      id: task.id,
      contextId,
      agent: task.agent,
      version: 0,
      state: 'in-progress',
      statusAt: at,
      messageId,
      body: {},
    },
    told(contextId, task.id, task.objective, task.parties),
  );
  return contextId;
}

/**
 * A case as the desk makes it over HTTP: Priya’s message, a subtask handed to the policy reader, what
 * that found, and a second subtask that waits for input.
 */
export async function makeCase(cast: Cast): Promise<MadeCase> {
  const contextId = await begin(cast.desk, cast.priyaKey, {
    id: 'run-1',
    agent: 'desk',
    objective: question,
    parties: [priya, desk],
  });
  const master = cast.desk.master();
  const { activity, dialog, task: run } = await master.locate('run-1');
  // What it is called is its own word.
  await cast.reader.master().participant(reader);
  const [deskId, readerId] = [await master.participant(desk), await master.participant(reader)];
  const ids = () => ({ dialog: master.newId('dialog'), task: master.newId('task') });
  const [first, second] = [ids(), ids()];
  const found = master.newId('resource');
  const edge = (type: string, from: string, to: string, role?: string): DraftInput => ({
    about: master.newId('relationship'),
    statement: {
      says: 'relationship.asserted',
      type,
      from,
      to,
      ...(role === undefined ? {} : { role }),
    } as const,
  });
  const delegate = (to: { dialog: string; task: string }, objective: string): DraftInput[] => [
    {
      about: to.dialog,
      statement: {
        says: 'dialog.opened',
        activity,
        participants: [deskId, readerId],
        managed: 'ours',
        objective,
      } as const,
    },
    edge('delegated-from', to.dialog, dialog),
    { about: to.task, statement: { says: 'task.defined', dialog: to.dialog, objective } as const },
    edge('delegated-from', to.task, run),
  ];
  await master.assert([
    ...delegate(first, 'Find the cash back terms that hold for her card'),
    ...delegate(second, 'Ask her which purchase is meant: 日本語 \u001b[31mred\u001b[0m'),
    {
      about: found,
      statement: {
        says: 'resource.known',
        activity,
        name: 'Gold card terms, section 4',
        mediaType: 'text/plain',
      },
    },
    edge('input-to', found, second.task, 'terms'),
    edge('output-of', found, first.task, 'finding'),
    { about: first.task, statement: { says: 'task.state', state: 'completed' } },
    { about: second.task, statement: { says: 'task.state', state: 'awaiting', awaiting: 'input' } },
  ]);
  await master.saveHandover(
    {
      task: first.task,
      dialog: first.dialog,
      agent: 'reader',
      withheld: ['date of birth', 'card code'],
      tokenizer: 'o200k_base',
      sent: 812,
      fullHistory: 9_120,
      returned: 140,
      usage: [{ model: 'local/reader', inputTokens: 300, outputTokens: 90, money: 0.0021 }],
      compression: { tokenizer: 'o200k_base', before: 700, after: 175 },
    },
    { sent: 'the sent text', fullHistory: 'the whole history' },
  );
  return { contextId, run, subtask: first.task, stuck: second.task, found };
}
