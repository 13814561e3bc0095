/** The policy reader: looks questions up among the bank's documents and quotes what they say. */
import { setTimeout as sleep } from 'node:timers/promises';
import { serveAgent, type AgentHandler } from 'throughline/agent';
import { documentOf } from '../knowledge.ts';
import { answerQuestions } from '../policy.ts';
import { announce, joinDesk, logFault } from './process.ts';
import { holdingsSchema, questionsSchema } from './items.ts';
import { reader } from './read-items.ts';

/** Set by whoever tries what a crash does: stop after the first item until killed. */
const holdMs = Number(process.env['SUPPORT_DESK_HOLD_MS'] ?? 0);

/** One thing done wrong on purpose, for whoever checks the checks. */
const fault = process.env['SUPPORT_DESK_FAULT'];

const handler: AgentHandler = async (context, io) => {
  if (fault === 'forget-on-resume' && io.resumed) throw new Error('forgot what it was doing');
  const read = reader(context, io);
  const message = await read.text('opening message');
  const questions = questionsSchema.parse(await read.json('questions'));
  const holdings = holdingsSchema.parse(await read.json('holdings'));
  const policy = answerQuestions(message, questions, holdings);
  if (fault === 'lose-a-card') {
    const [lost] = policy.terms;
    policy.terms = policy.terms.filter(({ card }) => card !== lost?.card);
  }
  const { findings, ranked } = policy.retrieval;
  await io.itemDone(
    'look-up',
    `${ranked.length} documents for ${findings.length} questions; first: ${ranked.slice(0, 3).join(', ')}`,
  );
  if (holdMs > 0) {
    process.send?.({ kind: 'holding', taskId: io.taskId });
    await sleep(holdMs, undefined, { signal: io.signal });
  }
  const { terms, procedures } = policy;
  // Where rewards are recomputed, the terms say it all but for what the procedures say to do.
  const passages = policy.passages.slice(0, policy.needsCheck ? 6 : 24);
  const spans = [...terms, ...passages, ...procedures];
  const verbatim = spans.every(
    (span) => documentOf(span.documentId).content.slice(span.start, span.end) === span.quote,
  );
  await io.output('terms', 'application/json', JSON.stringify({ terms }));
  await io.output('passages', 'application/json', JSON.stringify({ passages, procedures }));
  await io.itemDone('quote', `${terms.length} terms and ${passages.length} passages quoted`);
  return {
    criteria: [{ id: 'verbatim', passed: verbatim, evidence: ['terms', 'passages'] }],
    confidence: verbatim ? 1 : 0,
  };
};

const { connection, principal, port } = await joinDesk();
announce(
  await serveAgent({
    card: {
      name: 'Policy reader',
      description: 'Looks questions up among the documents of the bank and quotes what they say.',
      version: '1.0.0',
      skills: [
        { id: 'look-up', name: 'Look up', description: 'Terms and passages, word for word.' },
      ],
    },
    ports: connection.ports,
    principal,
    port,
    grpc: {},
    handler,
    onFault: logFault,
  }),
);
