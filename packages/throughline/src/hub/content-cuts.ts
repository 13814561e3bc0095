import { z } from 'zod';
import {
  idSchema,
  selectorSchema,
  type ContentRef,
  type Principal,
  type Selector,
} from '../model/index.ts';
import type { StoreWriter } from '../store/store.ts';
import type { Contents } from './content.ts';
import type { ContentReading } from './content-reading.ts';
import { findNote } from './content-records.ts';
import { resourceOf } from './content-rights.ts';
import type { Deps } from './deps.ts';
import { meet, ownParty } from './meet.ts';
import type { Registries } from './observing.ts';
import { Recorder } from './recorder.ts';
import { notFound, parse } from './refusals.ts';

const cutSchema = z.object({
  uri: z.string().max(2_048),
  selector: selectorSchema,
  /** Id of the part. */
  resource: idSchema('resource'),
});
export type CutRequest = z.input<typeof cutSchema>;

/** Parts of content as Resources of their own: whoever is given one can't get at the rest. */
export class ContentCuts {
  readonly #deps: Deps;
  readonly #registries: Registries;
  readonly #contents: Contents;
  readonly #reading: ContentReading;

  constructor(
    deps: Deps,
    parts: { registries: Registries; contents: Contents; reading: ContentReading },
  ) {
    this.#deps = deps;
    this.#registries = parts.registries;
    this.#contents = parts.contents;
    this.#reading = parts.reading;
  }

  /** The same part of the same content gives the first reference again. */
  async cut(by: Principal, given: CutRequest): Promise<ContentRef> {
    const { uri, selector, resource } = parse(cutSchema, given, 'cut');
    const { mediaType, bytes } = await this.#reading.get(by, { uri, selector });
    const refusal = () => notFound('content', uri);
    return this.#contents.store(by, bytes, async (writer) => {
      const whole = resourceOf(this.#deps, uri);
      const note = whole === undefined ? undefined : await findNote(this.#deps, writer, whole);
      if (whole === undefined || note?.content === undefined) throw refusal();
      const { activity, until, region } = note.shape;
      const now = this.#deps.now().getTime();
      const left = until === undefined ? undefined : Math.max(1, Math.ceil((until - now) / 1_000));
      return {
        activity,
        resource,
        mediaType,
        bytes,
        task: `${whole} ${selector.conformsTo} ${selector.value}`,
        ...(left === undefined ? {} : { keepSeconds: left }),
        ...(region === undefined ? {} : { region }),
        tell: (telling: StoreWriter, ref: ContentRef) =>
          this.#tell(telling, by, { ref, whole, selector, activity }),
      };
    });
  }

  async #tell(
    writer: StoreWriter,
    by: Principal,
    of: { ref: ContentRef; whole: string; selector: Selector; activity: string },
  ): Promise<void> {
    const { ref, whole, selector, activity } = of;
    const { resource, mediaType, size, digest, uri: locator } = ref;
    const recorder = await Recorder.start(this.#deps, writer);
    const source = await meet(recorder, this.#registries.participants, by, ownParty(by));
    const known = { says: 'resource.known', activity } as const;
    await recorder.say({ about: whole, statement: known }, source);
    const part = { ...known, mediaType, size, digest, locator };
    await recorder.say({ about: resource, statement: part }, source);
    const edge = { type: 'part-of', from: resource, to: whole, selector };
    await recorder.say(
      {
        about: this.#deps.ids.make('relationship'),
        statement: { says: 'relationship.asserted', ...edge },
      },
      source,
    );
    await recorder.flush();
  }
}
