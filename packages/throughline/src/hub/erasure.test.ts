import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Observation, TaskRecord } from '../model/index.ts';
import { openSqliteStore, verifyChain, type Store } from '../store/index.ts';
import {
  bob,
  boss,
  checker,
  desk,
  mallory,
  priya,
  refusal,
  refused,
  Scene,
  stores,
  through,
} from './conformance.ts';
import { toJson } from './records.ts';
import { KeyBox, Vault } from './vault.ts';

const canary = 'canary';
const domainKey = new Uint8Array(32).fill(7);
const adopted = 'canary_ctx_ord123';

/** A sealed piece as it was written: where it belongs, and under which label. */
interface Sealed {
  readonly scope: string | undefined;
  readonly label: string;
  readonly bytes: Uint8Array;
}

interface Written {
  readonly id?: string;
  readonly kind?: string;
  readonly key?: string;
  readonly type?: string;
  readonly about?: string;
  readonly activity?: string;
  readonly sealed?: Uint8Array;
}

const labelOf = ({ kind, key, id, type, about }: Written): string => {
  if (key !== undefined) return `${kind}/${key}`;
  return about === undefined ? `${type === undefined ? 'object' : 'edge'}/${id}` : `log/${id}`;
};

const sealedIn = (each: Written): Sealed[] => {
  if (each.sealed === undefined || each.kind === 'case-key') return [];
  const scope = each.activity ?? (each.key === undefined ? (each.about ?? each.id) : undefined);
  return [{ scope, label: labelOf(each), bytes: Uint8Array.from(each.sealed) }];
};

/** Notes every sealed piece that is ever written, as whoever copies the files again and again has them. */
function copying(store: Store): { store: Store; copies: Sealed[] } {
  const copies: Sealed[] = [];
  const copied = through(store, (name, [given]) => {
    if (name === 'deleteRecord' || name === 'eraseActivity') return;
    const all = Array.isArray(given) ? given : [given];
    copies.push(...all.flatMap((each: Written) => sealedIn(each)));
  });
  return { store: copied, copies };
}

/** Everything in these copies that the keys which are there now still open. */
async function opened(store: Store, copies: readonly Sealed[]): Promise<string> {
  const vault = new Vault(domainKey);
  return store.read(async (reader) => {
    const texts: string[] = [];
    for (const { scope, label, bytes } of copies) {
      const box = scope === undefined ? vault.domain : await vault.caseBox(reader, scope);
      try {
        if (box !== undefined) texts.push(Buffer.from(box.openBytes(label, bytes)).toString());
      } catch {
        // Sealed under a key that is gone.
      }
    }
    // Offloaded content has keys of its own, which stand in what the others open.
    const keys = [...texts.join('\n').matchAll(/"key":"([\w-]{43})"/g)].map(([, key = '']) => key);
    for (const key of keys) {
      const box = new KeyBox(Buffer.from(key, 'base64url'), randomBytes);
      for (const { label, bytes } of copies) {
        try {
          const content = label.replace('content-sealed/', 'content/');
          texts.push(Buffer.from(box.openBytes(content, bytes)).toString());
        } catch {
          // Sealed under another key.
        }
      }
    }
    return texts.join('\n');
  });
}

const sender = { ...priya, id: 'canary-sender' };

/** A case with a canary in everything that people or protocols may write. */
async function canaryCase(scene: Scene): Promise<{ task: TaskRecord; activity: string }> {
  const { hub } = scene;
  const messageId = 'canary-message';
  const { contextId } = await scene.admit(sender, { messageId, contextId: adopted });
  const doing = { text: 'canary-words', body: { artifacts: ['canary-artifact'] } };
  const id = 'canary-task';
  const record: TaskRecord = {
    id,
    contextId,
    agent: desk.id,
    version: 0,
    state: 'in-progress',
    statusAt: scene.now.toISOString(),
    messageId,
    body: doing.body,
  };
  const seen = scene.seen(sender, record, doing).map((each) => ({
    ...each,
    endpoint: 'https://canary-endpoint.example/',
  }));
  const [first] = seen;
  if (first === undefined) throw new Error('nothing seen');
  const artifact: Observation = {
    ...first,
    kind: 'artifact',
    taskId: id,
    artifactId: 'canary-artifact-id',
    resource: { name: 'canary-file', mediaType: 'text/plain', locator: 'https://canary.example/' },
  };
  const { version } = await hub.saveTask({ principal: desk }, record, [...seen, artifact]);
  const master = hub.master(desk);
  const { activity, task } = await master.locate(id);
  const resource = master.newId('resource');
  const bytes = Buffer.from('canary-content');
  await master.putContent({ activity, resource, mediaType: 'text/plain', bytes });
  const outside = await master.participant({
    kind: 'tool',
    name: 'canary-tool',
    url: 'https://canary-tool.example/',
  });
  const dialog = master.newId('dialog');
  const self = await master.participant({ kind: 'agent', principal: desk.id });
  await master.assert([
    { about: resource, statement: { says: 'resource.known', activity, name: 'canary-resource' } },
    {
      about: master.newId('relationship'),
      statement: {
        says: 'relationship.asserted',
        type: 'input-to',
        from: resource,
        to: task,
        role: 'canary-role',
        note: 'canary-note',
      },
    },
    {
      about: dialog,
      statement: {
        says: 'dialog.opened',
        activity,
        participants: [self, outside],
        managed: 'none',
        objective: 'canary-objective',
      },
    },
  ]);
  await master.saveRun({
    id: 'canary-run',
    activity,
    done: false,
    state: { note: 'canary-state' },
    expected: 0,
  });
  const usage = [{ model: 'canary-model', inputTokens: 1, outputTokens: 1 }];
  const used = { id: master.newId('task'), activity, done: true, state: {}, usage };
  await master.saveRun({ ...used, expected: 0 });
  await hub.grant(sender, contextId, { grantee: 'canary-grantee', operations: ['get'] });
  await hub.labelCase(sender, activity, { label: { name: 'ticket', value: 'canary-1234' } });
  return { task: { ...record, version }, activity };
}

describe.each(stores)('an erased case (%s)', (_name, open) => {
  const start = async () => {
    const base = await open();
    const { store, copies } = copying(base);
    const scene = await Scene.open(open, { store, contextPolicy: 'adopt' });
    const made = await canaryCase(scene);
    return { base, copies, scene, ...made };
  };

  it('can be read by nobody, with every copy of the files and all keys that are left', async () => {
    const { base, copies, scene, activity } = await start();
    const before = await opened(base, copies);
    for (const word of ['words', 'sender', 'artifact', 'content', 'note', 'role', 'file', '1234']) {
      expect(before).toContain(`canary-${word}`);
    }
    for (const word of [adopted, 'canary-message', 'canary-task', 'canary-run', 'canary-tool']) {
      expect(before).toContain(word);
    }
    await scene.hub.eraseCase(boss, activity);
    expect(await opened(base, copies)).not.toContain(canary);
  });

  it('is erased indeed, whatever was said of it before, and once more without effect', async () => {
    const { base, copies, scene, activity } = await start();
    await scene.store.write(async (writer) => {
      const [object] = await writer.objects([activity]);
      const shape = z.looseObject({ value: z.looseObject({}) }).parse(object?.shape);
      if (object === undefined) throw new Error('no case');
      const value = { ...shape.value, closed: true, erased: true };
      await writer.putObject({ ...object, shape: toJson({ ...shape, value }) });
    });
    expect(await scene.hub.eraseCase(sender, activity)).toEqual({ assertions: [] });
    expect(await opened(base, copies)).not.toContain(canary);
    const before = await scene.state();
    expect(await scene.hub.eraseCase(sender, activity)).toEqual({ assertions: [] });
    expect(await scene.state()).toEqual(before);
  });

  it('keeps its shape, its timeline and the chain, with who erased it', async () => {
    const { base, scene, activity } = await start();
    const { assertions: told } = await scene.hub.timeline(sender, activity);
    const { assertions } = await scene.hub.eraseCase(sender, activity);
    const view = await scene.hub.caseView(sender, activity);
    expect(view.summary).toMatchObject({ activity, erased: true, closed: true });
    expect(view.dialogs).toHaveLength(2);
    expect(view.tasks).toMatchObject([{ state: 'in-progress' }]);
    expect(JSON.stringify(view)).not.toContain(canary);
    const timeline = await scene.hub.timeline(sender, activity);
    expect(timeline.assertions.map(({ id }) => id)).toEqual([
      ...told.map(({ id }) => id),
      ...assertions,
    ]);
    expect(timeline.assertions.at(-1)).toMatchObject({
      statement: { says: 'activity.erased' },
      basis: 'supervised',
      source: view.activities[0]?.initiator,
      recordedAt: scene.now.toISOString(),
    });
    expect(JSON.stringify(timeline)).not.toContain(canary);
    const { seq } = await base.read((reader) => reader.head());
    expect(await verifyChain(base)).toEqual({ verified: seq });
    expect((await scene.hub.cases(sender)).cases).toMatchObject([{ activity, erased: true }]);
  });

  it('is erased once, by its owner or an operator and nobody else', async () => {
    const { scene, activity } = await start();
    const grant = { grantee: 'bob', operations: ['get' as const, 'send' as const] };
    await scene.hub.grant(sender, adopted, grant);
    for (const principal of [bob, mallory, desk, checker]) {
      expect(await refusal(scene.hub.eraseCase(principal, activity))).toBe('not-found');
    }
    expect((await scene.hub.caseView(sender, activity)).summary.erased).toBeUndefined();
    expect((await scene.hub.eraseCase(sender, activity)).assertions).toHaveLength(1);
    expect((await scene.hub.eraseCase(boss, activity)).assertions).toEqual([]);
    for (const principal of [bob, mallory, desk]) {
      expect(await refusal(scene.hub.caseView(principal, activity))).toBe('not-found');
    }
  });

  it('refuses its contexts like any other, also the id that a client brought', async () => {
    const { scene, activity, task } = await start();
    const issued = await scene.hub.grant(sender, adopted, { grantee: 'bob', operations: ['send'] });
    await scene.hub.eraseCase(sender, activity);
    const text = async (contextId: string) => {
      const { code, message } = await refused(scene.admit(sender, { contextId }));
      return [code, message.replace(contextId, 'ID')];
    };
    const missing = await text('ctx_00000000000000000000000000');
    expect(await text(adopted)).toEqual(missing);
    expect(await text(issued.contextId)).toEqual(missing);
    expect(await refusal(scene.admit(sender, { taskId: task.id }))).toBe('not-found');
    expect(await scene.hub.loadTask({ principal: sender }, task.id)).toBeUndefined();
    const list = await scene.hub.listTasks({ principal: sender }, {});
    expect(list).toMatchObject({ tasks: [], total: 0 });
  });

  it('takes nothing any more, from whoever still works on it', async () => {
    const { scene, activity, task } = await start();
    await scene.hub.eraseCase(sender, activity);
    const before = await scene.state();
    const master = scene.hub.master(desk);
    const late: readonly (() => Promise<unknown>)[] = [
      () => scene.move(task, 'completed'),
      () =>
        scene.hub.saveTask({ principal: desk }, { ...task, version: 0 }, scene.seen(sender, task)),
      () => master.assert([{ about: activity, statement: { says: 'activity.closed' } }]),
      () =>
        master.putContent({
          activity,
          resource: master.newId('resource'),
          mediaType: 'text/plain',
          bytes: new Uint8Array(1),
        }),
      () => master.saveRun({ id: 'late', activity, done: true, state: 'canary', expected: 0 }),
      () => scene.hub.labelCase(sender, activity, { label: { name: 'a', value: 'canary' } }),
      () => scene.hub.reopenCase(sender, activity),
    ];
    for (const each of late) await refused(each);
    expect(await scene.state()).toEqual(before);
  });

  it('leaves to other cases what they share with it', async () => {
    const { scene, activity, base, copies } = await start();
    const other = await scene.task(sender, {}, { text: 'kept' });
    await scene.hub.eraseCase(boss, activity);
    const view = await scene.hub.caseView(sender, other.contextId);
    expect(view.participants.map(({ name }) => name)).toContain('canary-sender');
    expect(view.summary.objective).toBe('kept');
    const left = await opened(base, copies);
    expect(left).toContain('canary-sender');
    expect(left).not.toContain('canary-tool');
    const moved = await scene.move(other, 'completed');
    expect(moved.version).toBe(2);
  });
});

describe('the files of a store', () => {
  it('hold no word of an erased case, in the database or beside it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'erased-'));
    const store = await openSqliteStore({ path: join(folder, 'hub.db') });
    const scene = await Scene.open(() => Promise.resolve(store), { contextPolicy: 'adopt' });
    const { activity } = await canaryCase(scene);
    const sealedPieces = async () => {
      const objects = await store.read((reader) => reader.objectsOf({ activity, limit: 10 }));
      return objects.flatMap(({ sealed }) => (sealed === undefined ? [] : [Buffer.from(sealed)]));
    };
    const pieces = await sealedPieces();
    expect(pieces.length).toBeGreaterThan(3);
    await scene.hub.eraseCase(sender, activity);
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    for (const file of files) {
      expect(file.includes(canary)).toBe(false);
      for (const piece of pieces) expect(file.includes(piece)).toBe(false);
    }
    expect(await sealedPieces()).toEqual([]);
  });
});
