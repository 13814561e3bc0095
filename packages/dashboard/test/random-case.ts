import { HubClient } from 'throughline/client';
import { taskStates, type DraftInput } from 'throughline/model';
import { open, words, type Cast } from './story.ts';

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface RandomCase {
  readonly contextId: string;
  /** Says so many things more about the case. */
  say(count: number): Promise<void>;
}

/** A case that a desk says random things about: new dialogs, tasks, documents, states, relationships. */
export async function randomCase(cast: Cast, random: () => number): Promise<RandomCase> {
  const run = await open(cast, 'run-random', 'A case about anything');
  const master = new HubClient({ url: cast.url, key: cast.deskKey }).master();
  const say = words(master, run.activity);
  const desk = await master.participant({ kind: 'agent', name: 'Support desk', principal: 'desk' });
  const other = await master.participant({
    kind: 'agent',
    name: 'Anybody',
    url: 'https://anybody.example/a2a',
  });
  const dialogs = [run.dialog];
  const tasks: string[] = [];
  const resources: string[] = [];
  const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)];

  const makers: readonly (() => DraftInput | undefined)[] = [
    () => {
      const id = master.newId('dialog');
      dialogs.push(id);
      const { activity } = run;
      const participants = [desk, other];
      return {
        about: id,
        statement: { says: 'dialog.opened', activity, participants, managed: 'ours' },
      };
    },
    () => {
      const id = master.newId('task');
      tasks.push(id);
      const objective = `piece of work ${tasks.length}`;
      const dialog = pick(dialogs) ?? run.dialog;
      return { about: id, statement: { says: 'task.defined', dialog, objective } };
    },
    () => {
      const id = master.newId('resource');
      resources.push(id);
      return say.document(id, `document ${resources.length}`, 'text/plain', 100);
    },
    ...Array.from({ length: 3 }, () => (): DraftInput | undefined => {
      const about = pick(tasks);
      const state = pick(taskStates);
      if (about === undefined || state === undefined) return undefined;
      const awaiting = state === 'awaiting' ? { awaiting: 'input' as const } : {};
      return { about, statement: { says: 'task.state', state, ...awaiting } };
    }),
    () => {
      const [from, to] = [pick(dialogs.slice(1)), pick(dialogs)];
      return from === undefined || to === undefined
        ? undefined
        : say.edge('delegated-from', from, to);
    },
    () => {
      const [from, to] = [pick(resources), pick(tasks)];
      const type = random() < 0.8 ? 'input-to' : 'output-of';
      return from === undefined || to === undefined ? undefined : say.edge(type, from, to);
    },
  ];
  const perCall = 100;
  return {
    contextId: run.contextId,
    say: async (count) => {
      const drafts: DraftInput[] = [];
      while (drafts.length < count) {
        const draft = pick(makers)?.();
        if (draft !== undefined) drafts.push(draft);
      }
      for (let at = 0; at < count; at += perCall)
        await master.assert(drafts.slice(at, at + perCall));
    },
  };
}
