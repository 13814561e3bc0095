import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  digest as digestSchema,
  foreignId,
  idSchema,
  limits,
  type ContentRef,
  type Principal,
} from '../model/index.ts';
import type { StoreReader, StoreWriter } from '../store/store.ts';
import { authorize, may } from './authorize.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import type { Quotas, Stored } from './quotas.ts';
import { originOf } from './origins.ts';
import { Recorder } from './recorder.ts';
import { Records, toJson, type Kept } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { guardTask, type TaskStore } from './task-records.ts';
import { ReadTokens, tokenSeconds } from './tokens.ts';
import { digestOf } from './vault.ts';

const mediaType = z
  .string()
  .max(255)
  .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/, { message: 'must be a media type' });
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes');
const contentSchema = z.object({
  activity: idSchema('activity'),
  resource: idSchema('resource'),
  mediaType,
  bytes,
});
const outputSchema = z.object({
  taskId: foreignId,
  name: z.string().min(1).max(255),
  mediaType,
  bytes,
});
const tokenSchema = z.object({
  uri: z.string(),
  audience: foreignId,
  seconds: z.int().min(1).max(tokenSeconds),
});
export type ContentInput = z.input<typeof contentSchema>;
export type OutputInput = z.input<typeof outputSchema>;

const notes = new Records(
  'content',
  z.object({
    activity: z.string(),
    size: z.int(),
    digest: digestSchema,
    /** Participants that may read it: those in the Dialog of its task when the task put it out. */
    readers: z.array(z.string()).optional(),
  }),
  z.object({ tenant: foreignId, keeper: foreignId, mediaType: z.string() }),
);
const knownShape = z.looseObject({
  value: z.looseObject({ digest: z.string().optional(), size: z.number().optional() }),
});
type Note = Kept<
  { activity: string; size: number; digest: string; readers?: string[] | undefined },
  { tenant: string; keeper: string; mediaType: string }
>;
/** The bytes, apart from what is known of them, sealed with their case. */
const bytesKind = 'content-bytes';
export const contentKinds: readonly string[] = [notes.kind, bytesKind];

/** Bytes that each keeper has in a case. */
export async function contentBytesOf(
  { vault }: Deps,
  reader: StoreReader,
  activity: string,
): Promise<Stored[]> {
  const box = await vault.caseBox(reader, activity);
  const query = { index: { activity }, limit: 100_000 };
  const found = await notes.find(reader, () => box, query);
  return found.flatMap(({ content, shape }) =>
    content === undefined
      ? []
      : [{ tenant: content.tenant, id: content.keeper, bytes: shape.size }],
  );
}

interface Put {
  readonly activity: string;
  readonly resource: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** Task that put it out, and the Participants that may then read it. */
  readonly task?: string;
  readonly readers?: readonly string[];
}

/** Offloaded content behind ContextURIs: stable, without a secret, checked before it is served. */
export class Contents {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #tasks: TaskStore;
  readonly #tokens: ReadTokens;
  readonly #quotas: Quotas;

  constructor(deps: Deps, parts: { registries: Registries; tasks: TaskStore; quotas: Quotas }) {
    const { registries, tasks, quotas } = parts;
    this.#quotas = quotas;
    this.#deps = deps;
    this.#registries = registries;
    this.#tasks = tasks;
    this.#tokens = new ReadTokens(deps.vault, deps.ids, deps.now);
  }

  /** The same bytes put by the same principal into one case give the first reference again. */
  async put(by: Principal, given: ContentInput): Promise<ContentRef> {
    const content = parse(contentSchema, given, 'content');
    checkSize(content.bytes);
    return this.#deps.store.write(async (writer) => {
      const { participants } = this.#registries;
      const source = await participants.of(writer, by);
      const takesPart = await participants.takesPart(writer, content.activity, source);
      authorize(by, 'assert', { tenant: by.tenant, takesPart }, () =>
        notFound('activity', content.activity),
      );
      await this.#checkName(writer, source, content);
      return this.#keep(writer, by, content);
    });
  }

  /** Output of one's own task: a Resource of its own, even with bytes that are known already. */
  async putOutput(by: Principal, given: OutputInput): Promise<ContentRef> {
    const output = parse(outputSchema, given, 'output');
    checkSize(output.bytes);
    return this.#deps.store.write(async (writer) => {
      const task = await this.#tasks.get(writer, by.tenant, output.taskId);
      const refusal = () => notFound('task', output.taskId);
      authorize(by, 'execute', task && guardTask(task, undefined), refusal);
      if (task === undefined) throw refusal();
      const { activity, task: taskId } = task.shape;
      const recorder = await Recorder.start(this.#deps, writer);
      await recorder.workspace.need([taskId]);
      const { graph } = recorder.workspace;
      const dialog = graph.dialog(graph.task(taskId)?.dialog ?? '');
      if (dialog === undefined) throw refusal();
      const { participants, invoker } = dialog;
      const readers = [...new Set([...participants, ...(invoker === undefined ? [] : [invoker])])];
      const resource = this.#deps.ids.make('resource');
      const ref = await this.#keep(writer, by, {
        ...output,
        activity,
        resource,
        readers,
        task: taskId,
      });
      if (ref.resource === resource) await this.#state(recorder, by, { task, output, ref });
      return ref;
    });
  }

  /** With a token made for the reader, or without one by those it belongs to. One refusal for all. */
  async get(
    by: Principal,
    uri: string,
    token?: string,
  ): Promise<{ mediaType: string; bytes: Uint8Array }> {
    const refusal = () => notFound('content', uri);
    const resource = this.#resourceOf(uri);
    if (resource === undefined) throw refusal();
    const isAllowed = token !== undefined && (await this.#tokens.allows(token, uri, by.id));
    return this.#deps.store.read(async (reader) => {
      const note = await this.#note(reader, resource);
      const isTheirs = await this.#isTheirs(reader, by, note);
      if (note?.content === undefined || note.content.tenant !== by.tenant) throw refusal();
      if (!isAllowed && !isTheirs) throw refusal();
      const record = await reader.record({ kind: bytesKind, key: resource });
      const box = await this.#deps.vault.caseBox(reader, note.shape.activity);
      if (record?.sealed === undefined || box === undefined) throw refusal();
      const content = box.openBytes(`${bytesKind}/${resource}`, record.sealed);
      if (digestOf(content) !== note.shape.digest) {
        throw new ThroughlineError('damaged', `content ${resource} is not what was put there`);
      }
      return { mediaType: note.content.mediaType, bytes: content };
    });
  }

  /** For content that one may read without a token. */
  async readToken(by: Principal, given: z.input<typeof tokenSchema>): Promise<string> {
    const request = parse(tokenSchema, given, 'read token');
    const resource = this.#resourceOf(request.uri);
    const refusal = () => notFound('content', request.uri);
    if (resource === undefined) throw refusal();
    await this.#deps.store.read(async (reader) => {
      const note = await this.#note(reader, resource);
      if (!(await this.#isTheirs(reader, by, note))) throw refusal();
    });
    return this.#tokens.sign(request);
  }

  /** What a Resource is known as already must be these bytes, and the word of the same Participant. */
  async #checkName(
    writer: StoreWriter,
    source: string | undefined,
    {
      activity,
      resource,
      bytes: content,
    }: { activity: string; resource: string; bytes: Uint8Array },
  ): Promise<void> {
    const [object] = await writer.objects([resource]);
    const origin = await originOf(writer, resource);
    if (object === undefined) return;
    if (object.activity !== activity) throw notFound('resource', resource);
    const { digest, size } = knownShape.parse(object.shape).value;
    const fits =
      (digest ?? digestOf(content)) === digestOf(content) &&
      (size ?? content.length) === content.length;
    if (fits && origin === source) return;
    throw new ThroughlineError(
      'conflict',
      `${resource}: is known as something else, or as somebody else's; take a new id`,
    );
  }

  #resourceOf(uri: string): string | undefined {
    const prefix = `${this.#deps.origin}/content/`;
    if (!uri.startsWith(prefix)) return undefined;
    return idSchema('resource').safeParse(uri.slice(prefix.length)).data;
  }

  /** Reads as much for content that is not there. */
  async #isTheirs(reader: StoreReader, by: Principal, note: Note | undefined): Promise<boolean> {
    const participant = await this.#registries.participants.of(reader, by);
    if (note?.content === undefined) return false;
    const { tenant, keeper } = note.content;
    if (may(by, 'keep', { tenant, keeper })) return true;
    // Whoever joined the Dialog later was not handed what was put out before.
    const takesPart = participant !== undefined && note.shape.readers?.includes(participant);
    return may(by, 'assert', { tenant, takesPart: takesPart === true });
  }

  async #note(reader: StoreReader, resource: string): Promise<Note | undefined> {
    return notes.look(reader, new CaseBoxes(this.#deps.vault, reader), resource);
  }

  async #keep(writer: StoreWriter, by: Principal, content: Put): Promise<ContentRef> {
    const { activity, resource, readers, task = '' } = content;
    const { vault } = this.#deps;
    const digest = digestOf(content.bytes);
    const same = vault.blind(
      'content',
      activity,
      by.tenant,
      by.id,
      task,
      digest,
      content.mediaType,
    );
    const boxes = new CaseBoxes(vault, writer);
    const [known] = await notes.find(writer, boxes.for, { index: { same }, limit: 1 });
    const size = content.bytes.length;
    if (known !== undefined) return this.#ref(known.key, { ...content, size, digest });
    if ((await this.#note(writer, resource)) !== undefined) {
      throw new ThroughlineError(
        'conflict',
        `${resource}: has other content; other bytes are another resource`,
      );
    }
    await this.#quotas.store(writer, by, size);
    const box = await vault.caseBoxFor(writer, activity);
    await notes.put(writer, box, {
      key: resource,
      index: { same, activity },
      activity,
      shape: {
        activity,
        size,
        digest,
        ...(readers === undefined ? {} : { readers: [...readers] }),
      },
      content: { tenant: by.tenant, keeper: by.id, mediaType: content.mediaType },
      expected: 0,
    });
    const sealed = box.sealBytes(`${bytesKind}/${resource}`, content.bytes);
    const shape = toJson({});
    await writer.putRecord(
      { kind: bytesKind, key: resource, sort: 0, index: { activity }, activity, shape, sealed },
      { expected: 0 },
    );
    return this.#ref(resource, { ...content, size, digest });
  }

  #ref(resource: string, of: { mediaType: string; size: number; digest: string }): ContentRef {
    const { mediaType: type, size, digest } = of;
    const uri = `${this.#deps.origin}/content/${resource}`;
    return { resource, uri, mediaType: type, size, digest };
  }

  async #state(
    recorder: Recorder,
    by: Principal,
    made: {
      task: { content: { owner: string }; shape: { activity: string; task: string; ref: string } };
      output: { name: string };
      ref: ContentRef;
    },
  ): Promise<void> {
    const { participants, cases } = this.#registries;
    const { activity, task, ref: context } = made.task.shape;
    const { resource, mediaType: type, size, digest, uri } = made.ref;
    const party = { kind: 'agent', principal: by.id } as const;
    const source = await participants.identify(recorder.writer, by.tenant, party);
    await recorder.say(
      {
        about: resource,
        statement: {
          says: 'resource.known',
          activity,
          name: made.output.name,
          mediaType: type,
          size,
          digest,
          locator: uri,
        },
      },
      source,
    );
    await recorder.say(
      {
        about: this.#deps.ids.make('relationship'),
        statement: { says: 'relationship.asserted', type: 'output-of', from: resource, to: task },
      },
      source,
    );
    const { seq } = await recorder.flush();
    const owner = made.task.content.owner;
    await cases.touch(recorder.writer, activity, seq, { tenant: by.tenant, owner, ref: context });
  }
}

function checkSize(content: Uint8Array): void {
  if (content.length <= limits.contentBytes) return;
  throw new ThroughlineError('too-large', `content: is over ${limits.contentBytes} bytes`, {
    details: { limit: limits.contentBytes },
  });
}
