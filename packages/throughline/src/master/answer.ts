import { isJson, isText } from '../handover/media.ts';
import type { Part } from '../handover/parts.ts';
import type { RunReport } from '../model/run.ts';
import type { MasterPorts } from './ports.ts';

/** What an agent with a Master inside answers, as `serveAgent` takes it. */
export interface MasterAnswer {
  readonly text: string;
  readonly parts?: readonly Part[];
  readonly asks?: true;
  readonly ends?: 'failed' | 'cancelled';
}

type Output = RunReport['subtasks'][number]['outputs'][number];

/** Bytes of outputs that go into an answer by value; what is beyond goes by its ContextURI. */
const valueBytes = 1_048_576;
/** Characters of outputs that are told as the answer's text, too. */
const textLength = 8_000;

/** How a run stands, for the user whose message it is for. */
export async function answerOf(
  ports: Pick<MasterPorts, 'getContent'>,
  report: RunReport,
): Promise<MasterAnswer> {
  const { status, questions, reason } = report;
  // A run that is held back for another reason shows its questions all the same.
  if (!report.done && questions.length > 0) {
    return { asks: true, text: questions.map(({ text }) => text).join('\n') };
  }
  if (!report.done) {
    const why = reason === undefined ? '' : ` (${reason})`;
    return { asks: true, text: `The run is held back${why}; any message lets it go on.` };
  }
  const parts = await valuesOf(ports, lastOutputs(report));
  if (status === 'completed') return { text: textOf(parts) ?? 'It is done.', parts };
  return { text: whyNot(report), parts, ends: status === 'cancelled' ? 'cancelled' : 'failed' };
}

/** What the last subtask that put something out put out. */
export const lastOutputs = ({ subtasks }: RunReport): readonly Output[] =>
  subtasks.findLast(({ outputs }) => outputs.length > 0)?.outputs ?? [];

async function valuesOf(
  ports: Pick<MasterPorts, 'getContent'>,
  outputs: readonly Output[],
): Promise<Part[]> {
  const parts: Part[] = [];
  let left = valueBytes;
  for (const { name, ref } of outputs) {
    const { uri: url, mediaType, size } = ref;
    left -= size;
    if (left < 0) parts.push({ kind: 'url', url, mediaType, name });
    else parts.push(valueOf(name, mediaType, (await ports.getContent(url)).bytes));
  }
  return parts;
}

function valueOf(name: string, mediaType: string, bytes: Uint8Array): Part {
  if (!isText(mediaType)) return { kind: 'bytes', bytes, mediaType, name };
  const text = new TextDecoder().decode(bytes);
  if (!isJson(mediaType)) return { kind: 'text', text, mediaType, name };
  try {
    return { kind: 'data', data: JSON.parse(text), mediaType, name };
  } catch {
    return { kind: 'text', text, mediaType: 'text/plain', name };
  }
}

function textOf(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const text = texts.join('\n\n');
  return text === '' || text.length > textLength ? undefined : text;
}

function whyNot({ status, reason, subtasks }: RunReport): string {
  const open = subtasks.filter(({ status: stands }) => stands !== 'completed');
  const each = open.map(({ id, status: stands, attempts, verdict }) => {
    const why = attempts.at(-1)?.reason ?? verdict?.reasons.join('; ');
    return why === undefined ? `${id} ${stands}` : `${id} ${stands}: ${why}`;
  });
  return [`The run ${status === 'cancelled' ? 'was cancelled' : 'failed'}.`, reason, ...each]
    .filter((line) => line !== undefined)
    .join('\n');
}
