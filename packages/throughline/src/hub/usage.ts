import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  handoverSchema,
  handoverTextsSchema,
  limits,
  utf8Length,
  type Handover,
  type HandoverTexts,
  type Principal,
} from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { authorize } from './authorize.ts';
import type { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import { Records } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { caseObjects, Workspace } from './workspace.ts';

/** UTF-8 bytes of one counted text. */
const maxTextBytes = limits.bodyBytes;

const handoverRecords = new Records('handover', z.object({}), handoverSchema);
const textRecords = new Records('handover-texts', z.object({}), handoverTextsSchema);

/** Figures of hand-overs, and the texts they were counted on, so that anyone can count again. */
export class Usage {
  readonly #deps: Deps;
  readonly #registries: Registries;

  constructor(deps: Deps, registries: Registries) {
    this.#deps = deps;
    this.#registries = registries;
  }

  /** One for each Task; a later one takes the place of the earlier. */
  async save(by: Principal, given: Handover, texts: HandoverTexts): Promise<void> {
    const handover = parse(handoverSchema, given, 'hand-over');
    const counted = parse(handoverTextsSchema, texts, 'hand-over texts');
    for (const [name, text] of Object.entries(counted)) checkText(name, text);
    const { store, vault } = this.#deps;
    await store.write(async (writer) => {
      const workspace = new Workspace(vault, writer);
      await workspace.need([handover.task, handover.dialog]);
      const task = workspace.graph.task(handover.task);
      const { participants } = this.#registries;
      const source = await participants.of(writer, by);
      const takesPart =
        task?.dialog === handover.dialog &&
        (await participants.takesPart(writer, task.activity, source));
      const refusal = () => notFound('task', handover.task);
      authorize(by, 'assert', { tenant: by.tenant, takesPart }, refusal);
      if (task === undefined) throw refusal();
      const { id: key, activity } = task;
      const box = await vault.caseBoxFor(writer, activity);
      const kept = { key, index: { activity }, activity, shape: {} };
      await handoverRecords.put(writer, box, { ...kept, content: handover });
      await textRecords.put(writer, box, { ...kept, content: counted });
    });
  }

  async ofCase(reader: StoreReader, boxes: CaseBoxes, activity: string): Promise<Handover[]> {
    const box = await boxes.of(activity);
    const query = { index: { activity }, ascending: true, limit: caseObjects };
    const found = await handoverRecords.find(reader, () => box, query);
    return found.flatMap(({ content }) => content ?? []);
  }

  async texts(reader: StoreReader, boxes: CaseBoxes, activity: string, task: string) {
    const box = await boxes.of(activity);
    const found = await textRecords.get(reader, () => box, task);
    return found?.index['activity'] === activity ? found.content : undefined;
  }
}

function checkText(name: string, text: string | undefined): void {
  if (text === undefined) return;
  if (!text.isWellFormed()) {
    throw new ThroughlineError('invalid', `hand-over texts: ${name} is not well-formed Unicode`);
  }
  if (utf8Length(text) > maxTextBytes) {
    throw new ThroughlineError(
      'too-large',
      `hand-over texts: ${name} is over ${maxTextBytes} bytes`,
    );
  }
}
