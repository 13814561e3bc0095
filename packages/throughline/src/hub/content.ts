import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  contentKeepingSchema,
  foreignId,
  idSchema,
  limits,
  type ContentKeeping,
  type ContentRef,
  type Principal,
} from '../model/index.ts';
import type { StoreWriter } from '../store/store.ts';
import { authorize } from './authorize.ts';
import { CaseBoxes } from './case-boxes.ts';
import type { ContentObjects, ObjectPlace } from './content-objects.ts';
import { contentNotes, findNote, keptBy } from './content-records.ts';
import { uriOf } from './content-rights.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import type { Quotas } from './quotas.ts';
import { originOf } from './origins.ts';
import { Recorder } from './recorder.ts';
import { notFound, parse } from './refusals.ts';
import { guardTask, type TaskStore } from './task-records.ts';
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
  ...contentKeepingSchema.shape,
});
const outputSchema = z.object({
  taskId: foreignId,
  name: z.string().min(1).max(255),
  mediaType,
  bytes,
  ...contentKeepingSchema.shape,
});
export type ContentInput = z.input<typeof contentSchema>;
export type OutputInput = z.input<typeof outputSchema>;

/** What is to be kept, once it is known that it may be. */
export interface Keeping extends ContentKeeping {
  readonly activity: string;
  readonly resource: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** Task that put it out, and the Participants that may then read it. */
  readonly task?: string;
  readonly readers?: readonly string[];
  /** In the write that keeps it; not where the same is kept already. */
  readonly tell?: (writer: StoreWriter, ref: ContentRef) => Promise<void>;
}

/** Offloads content behind ContextURIs: stable, without a secret. Its bytes lie outside of the store. */
export class Contents {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #tasks: TaskStore;
  readonly #quotas: Quotas;
  readonly #objects: ContentObjects;

  constructor(
    deps: Deps,
    parts: { registries: Registries; tasks: TaskStore; quotas: Quotas; objects: ContentObjects },
  ) {
    this.#deps = deps;
    this.#registries = parts.registries;
    this.#tasks = parts.tasks;
    this.#quotas = parts.quotas;
    this.#objects = parts.objects;
  }

  /** The same bytes put by the same principal into one case give the first reference again. */
  async put(by: Principal, given: ContentInput): Promise<ContentRef> {
    const content = parse(contentSchema, given, 'content');
    return this.store(by, content.bytes, async (writer) => {
      const { participants } = this.#registries;
      const source = await participants.of(writer, by);
      const takesPart = await participants.takesPart(writer, content.activity, source);
      authorize(by, 'assert', { tenant: by.tenant, takesPart }, () =>
        notFound('activity', content.activity),
      );
      await this.#checkName(writer, source, content);
      return content;
    });
  }

  /** Output of one's own task: a Resource of its own, even with bytes that are known already. */
  async putOutput(by: Principal, given: OutputInput): Promise<ContentRef> {
    const output = parse(outputSchema, given, 'output');
    const resource = this.#deps.ids.make('resource');
    return this.store(by, output.bytes, async (writer) => {
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
      const tell = (_writer: StoreWriter, ref: ContentRef) =>
        this.#state(recorder, by, { task, output, ref });
      return { ...output, activity, resource, readers, task: taskId, tell };
    });
  }

  /**
   * Looks in a write whether it may be kept, and as what; then puts the bytes outside of it; then looks
   * again, and names them. Killed in between, nothing names the bytes, and they are swept.
   */
  async store(
    by: Principal,
    content: Uint8Array,
    decide: (writer: StoreWriter) => Promise<Keeping>,
  ): Promise<ContentRef> {
    checkSize(content);
    const { store } = this.#deps;
    const begun = await store.write(async (writer) => {
      const wanted = await decide(writer);
      const known = await this.#known(writer, by, wanted);
      if (known !== undefined) return known;
      await this.#check(writer, by, wanted);
      return this.#objects.begin(writer, wanted.activity);
    });
    if ('uri' in begun) return begun;
    let came = false;
    try {
      await this.#objects.put(begun, content);
      came = true;
      return await store.write(async (writer) => {
        const wanted = await decide(writer);
        const known = await this.#known(writer, by, wanted);
        if (known === undefined) return this.#keep(writer, by, wanted, begun);
        await this.#objects.doom(writer, begun.id);
        return known;
      });
    } catch (error) {
      // Where this fails as well they are swept later, unless their case was erased and swept before.
      await store
        .write((writer) => this.#objects.abandon(writer, begun, came))
        .catch(() => undefined);
      throw error;
    }
  }

  /** What a Resource is known as already must be these bytes, and the word of the same Participant. */
  async #checkName(
    writer: StoreWriter,
    source: string | undefined,
    { activity, resource, bytes: content }: Keeping,
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

  /** The same bytes, put into the same case by the same principal, as long as they are served. */
  async #known(writer: StoreWriter, by: Principal, of: Keeping): Promise<ContentRef | undefined> {
    const { vault, now } = this.#deps;
    const boxes = new CaseBoxes(vault, writer);
    const [known] = await contentNotes.find(writer, boxes.for, {
      index: { same: this.#same(by, of) },
      limit: 1,
    });
    if (known === undefined || (known.shape.until ?? Infinity) <= now().getTime()) return undefined;
    return this.#ref(known.key, of, known.shape.until);
  }

  #same(by: Principal, of: Keeping): string {
    const { activity, task = '', mediaType: type, keepSeconds = 0, region = '' } = of;
    const kept = keepSeconds === 0 && region === '' ? [] : [`${keepSeconds}`, region];
    const digest = digestOf(of.bytes);
    const { vault } = this.#deps;
    return vault.blind('content', activity, by.tenant, by.id, task, digest, type, ...kept);
  }

  async #check(writer: StoreWriter, by: Principal, of: Keeping): Promise<void> {
    const { here, policy = 'any' } = this.#deps.regions;
    if (policy === 'same' && of.region !== undefined && of.region !== here) {
      throw new ThroughlineError(
        'unsupported',
        `content: may lie in ${of.region} alone, and this hub keeps it in ${here ?? 'no region'}; put it there`,
      );
    }
    if ((await findNote(this.#deps, writer, of.resource)) !== undefined) {
      throw new ThroughlineError(
        'conflict',
        `${of.resource}: has other content; other bytes are another resource`,
      );
    }
    await this.#quotas.checkBytes(writer, by, of.bytes.length);
  }

  async #keep(
    writer: StoreWriter,
    by: Principal,
    of: Keeping,
    object: ObjectPlace,
  ): Promise<ContentRef> {
    const { activity, resource, readers, keepSeconds } = of;
    const { vault, now, regions } = this.#deps;
    await this.#check(writer, by, of);
    await this.#quotas.store(writer, by, of.bytes.length);
    const region = of.region ?? regions.here;
    const until = keepSeconds === undefined ? undefined : now().getTime() + keepSeconds * 1_000;
    const key = Buffer.from(object.key).toString('base64url');
    await contentNotes.put(writer, await vault.caseBoxFor(writer, activity), {
      key: resource,
      index: { same: this.#same(by, of), activity },
      activity,
      shape: {
        activity,
        size: of.bytes.length,
        digest: digestOf(of.bytes),
        object: object.id,
        ...(readers === undefined ? {} : { readers: [...readers] }),
        ...(readers === undefined || of.task === undefined ? {} : { outputOf: of.task }),
        ...(region === undefined ? {} : { region }),
        ...(until === undefined ? {} : { until }),
      },
      content: { ...keptBy(by), mediaType: of.mediaType, key },
      expiresAt: until,
      expected: 0,
    });
    await this.#objects.keep(writer, object, activity);
    const ref = this.#ref(resource, of, until);
    await of.tell?.(writer, ref);
    return ref;
  }

  #ref(
    resource: string,
    { mediaType: type, bytes: content }: Pick<Keeping, 'mediaType' | 'bytes'>,
    until: number | undefined,
  ): ContentRef {
    return {
      resource,
      uri: uriOf(this.#deps, resource),
      mediaType: type,
      size: content.length,
      digest: digestOf(content),
      ...(until === undefined ? {} : { expiresAt: new Date(until).toISOString() }),
    };
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

const knownShape = z.looseObject({
  value: z.looseObject({ digest: z.string().optional(), size: z.number().optional() }),
});

function checkSize(content: Uint8Array): void {
  if (content.length <= limits.contentBytes) return;
  throw new ThroughlineError('too-large', `content: is over ${limits.contentBytes} bytes`, {
    details: { limit: limits.contentBytes },
  });
}
