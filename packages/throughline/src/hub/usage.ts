import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import {
  handoverSchema,
  handoverTextsSchema,
  limits,
  runUsageSchema,
  spendingOf,
  utf8Length,
  type Handover,
  type HandoverTexts,
  type Principal,
  type RunUsage,
} from '../model/index.ts';
import type { StoreReader } from '../store/store.ts';
import { measure } from '../telemetry/measure.ts';
import { authorize } from './authorize.ts';
import type { CaseBoxes } from './case-boxes.ts';
import type { Deps } from './deps.ts';
import type { Registries } from './observing.ts';
import { Records } from './records.ts';
import { notFound, parse } from './refusals.ts';
import { caseObjects, Workspace } from './workspace.ts';

/** UTF-8 bytes of one counted text. */
const maxTextBytes = limits.bodyBytes;

export const handoverRecords = new Records('handover', z.object({}), handoverSchema);
/** By the key of the run that they are of. */
export const runUsageRecords = new Records('run-usage', z.object({}), runUsageSchema);
export const textRecords = new Records('handover-texts', z.object({}), handoverTextsSchema);

/** Figures of hand-overs, and the texts they were counted on, so that anyone can count again. */
export class Usage {
  readonly #deps: Deps;
  readonly #registries: Registries;

  constructor(deps: Deps, registries: Registries) {
    this.#deps = deps;
    this.#registries = registries;
  }

  /**
   * One for each Task, by whoever opened its Dialog. What it says of what went out stands once the message
   * is out: the same again is fine, another is `conflict`. What came back is added to it, once.
   */
  async save(by: Principal, given: Handover, texts: HandoverTexts): Promise<void> {
    const handover = parse(handoverSchema, given, 'hand-over');
    const counted = parse(handoverTextsSchema, texts, 'hand-over texts');
    for (const [name, text] of Object.entries(counted)) checkText(name, text);
    const { store, vault } = this.#deps;
    const news = await store.write(async (writer) => {
      const workspace = new Workspace(vault, writer);
      await workspace.need([handover.task, handover.dialog]);
      const task = workspace.graph.task(handover.task);
      const source = await this.#registries.participants.of(writer, by);
      const invoker = workspace.graph.dialog(handover.dialog)?.invoker;
      const invokes =
        task?.dialog === handover.dialog && source !== undefined && source === invoker;
      const refusal = () => notFound('task', handover.task);
      authorize(by, 'account', { tenant: by.tenant, invokes }, refusal);
      if (task === undefined) throw refusal();
      const { id: key, activity } = task;
      const box = await vault.caseBoxFor(writer, activity);
      const isOut = task.localId !== undefined || task.state !== 'defined';
      const before = {
        figures: (await handoverRecords.get(writer, () => box, key))?.content,
        texts: (await textRecords.get(writer, () => box, key))?.content,
      };
      const after = isOut ? onTop(before, { figures: handover, texts: counted }) : undefined;
      const kept = { key, index: { activity }, activity, shape: {} };
      const content = after?.figures ?? handover;
      await handoverRecords.put(writer, box, { ...kept, content });
      await textRecords.put(writer, box, { ...kept, content: after?.texts ?? counted });
      return newsOf(before.figures, content);
    });
    for (const [type, tokens] of Object.entries(news)) {
      if (tokens > 0) measure('throughline.handover.tokens', tokens, { type });
    }
  }

  async ofCase(reader: StoreReader, boxes: CaseBoxes, activity: string): Promise<Handover[]> {
    const box = await boxes.of(activity);
    const query = { index: { activity }, ascending: true, limit: caseObjects };
    const found = await handoverRecords.find(reader, () => box, query);
    return found.flatMap(({ content }) => content ?? []);
  }

  /** What Masters say that their own models used, a run each. */
  async runsOf(reader: StoreReader, boxes: CaseBoxes, activity: string): Promise<RunUsage[]> {
    const box = await boxes.of(activity);
    const query = { index: { activity }, ascending: true, limit: caseObjects };
    const found = await runUsageRecords.find(reader, () => box, query);
    return found.flatMap(({ content }) => content ?? []);
  }

  async texts(reader: StoreReader, boxes: CaseBoxes, activity: string, task: string) {
    const box = await boxes.of(activity);
    const found = await textRecords.get(reader, () => box, task);
    return found?.index['activity'] === activity ? found.content : undefined;
  }
}

interface Account<Missing = never> {
  readonly figures: Handover | Missing;
  readonly texts: HandoverTexts | Missing;
}

/** What was told before, with what came back where that is new. */
function onTop(before: Account<undefined>, given: Account): Account {
  const { figures, texts } = before;
  if (figures === undefined || texts === undefined) return given;
  const adds = figures.returned === undefined && given.figures.returned !== undefined;
  if (adds && isSameTarget(figures, given.figures)) {
    const { returned } = given.texts;
    return {
      figures: {
        ...figures,
        returned: given.figures.returned,
        ...(given.figures.usage && { usage: given.figures.usage }),
        ...(given.figures.compression && { compression: given.figures.compression }),
      },
      texts: returned === undefined ? texts : { ...texts, returned },
    };
  }
  const isSame = isDeepStrictEqual([figures, texts], [given.figures, given.texts]);
  if (isSame) return given;
  throw new ThroughlineError(
    'conflict',
    `hand-over of ${figures.task}: is told already; what went out does not change any more`,
  );
}

/** Tokens that were not told before, by type. */
function newsOf(before: Handover | undefined, after: Handover): Record<string, number> {
  const { inputTokens, outputTokens, compressed } = spendingOf([after]);
  return {
    ...(before === undefined && { sent: after.sent, full_history: after.fullHistory }),
    ...(before?.returned === undefined &&
      after.returned !== undefined && {
        returned: after.returned,
        before_compression: compressed?.before ?? 0,
        after_compression: compressed?.after ?? 0,
        model_input: inputTokens,
        model_output: outputTokens,
      }),
  };
}

const isSameTarget = (a: Handover, b: Handover): boolean =>
  a.agent === b.agent && a.tokenizer === b.tokenizer && isDeepStrictEqual(a.withheld, b.withheld);

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
