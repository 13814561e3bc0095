/** The case writer: composes the customer's answer and the record that the case rests on. */
import { serveAgent, type AgentHandler } from 'throughline/agent';
import { checkResultSchema, restRows } from '../checked-rows.ts';
import { documentOf } from '../knowledge.ts';
import { writeAnswer, writeRecord, type Findings } from '../writer.ts';
import { announce, joinDesk, logFault } from './process.ts';
import { firstNameSchema, passagesSchema, termsSchema } from './items.ts';
import { reader, type ItemsReader } from './read-items.ts';

async function findingsOf(read: ItemsReader): Promise<Findings> {
  const { terms } = termsSchema.parse(await read.json('terms'));
  const { passages, procedures } = passagesSchema.parse(await read.json('passages'));
  const { firstName } = firstNameSchema.parse(await read.json('first name'));
  const findings: Findings = {
    message: await read.text('opening message'),
    ...(firstName === null ? {} : { firstName }),
    terms,
    passages,
    procedures,
  };
  if (!read.has('recomputed rewards')) return findings;
  const result = checkResultSchema.parse(await read.json('recomputed rewards'));
  const { kept, refused } = restRows(result.rows, terms);
  const notAnswerable = [...result.notAnswerable, ...refused];
  return { ...findings, check: { ...result, rows: kept, notAnswerable } };
}

/** One thing done wrong on purpose, for whoever checks the checks. */
const fault = process.env['SUPPORT_DESK_FAULT'];

const handler: AgentHandler = async (context, io) => {
  const findings = await findingsOf(reader(context, io));
  const answer = writeAnswer(findings);
  const cited = answer.citations.every(
    (one) => documentOf(one.documentId).content.slice(one.start, one.end) === one.quote,
  );
  if (fault === 'reword-a-quote' && answer.citations[0] !== undefined) {
    answer.citations[0].quote = `Roughly: ${answer.citations[0].quote}`;
  }
  await io.output('answer', 'application/json', JSON.stringify(answer));
  await io.itemDone('answer', `${answer.rows.length} rows, ${answer.citations.length} citations`);
  await io.output('record', 'application/json', JSON.stringify(writeRecord(findings, answer)));
  await io.itemDone('record', 'kept with the case, not for the customer');
  return {
    criteria: [{ id: 'cited', passed: cited, evidence: ['answer', 'record'] }],
    confidence: cited ? 1 : 0,
  };
};

const { connection, principal, port } = await joinDesk();
announce(
  await serveAgent({
    card: {
      name: 'Case writer',
      description: 'Writes the answer to a customer and the record of the case.',
      version: '1.0.0',
      skills: [{ id: 'write', name: 'Write', description: 'Answer with citations, and record.' }],
    },
    ports: connection.ports,
    principal,
    port,
    grpc: {},
    handler,
    onFault: logFault,
  }),
);
