/** The support desk's story. `--stay` leaves hub and page up; without it the checks run, too. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endOnUncaught, lastWords, needRoom } from '../../scripts/full-disk.ts';
import { readFlags } from '../../scripts/flags.ts';
import { outliveReaders } from '../../scripts/reader-gone.ts';
import { peerTransports } from 'throughline/a2a';
import { describeSent } from 'throughline/model';
import { deskCase } from './cases.ts';
import { bank } from './bank.ts';
import type { Check, CheckName } from './story/check-names.ts';
import {
  citationsVerbatim,
  fourWrongTransactions,
  grantFollowUp,
  isolation,
  killResume,
  retrieval,
  strangerRefused,
  tokensRecount,
} from './story/checks.ts';
import { faultEnv, faultNamed } from './story/faults.ts';
import { tellStory, type Outcome } from './story/story.ts';
import { teller } from './story/tell.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

function readOptions() {
  const values = readFlags({
    stay: { type: 'boolean', default: false },
    once: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    case: { type: 'string', default: 'task_019' },
    fault: { type: 'string' },
    transport: { type: 'string', default: 'jsonrpc' },
    store: { type: 'string' },
  });
  if (!peerTransports.some((name) => name === values.transport)) {
    throw new RangeError(`--transport ${values.transport}: there is ${peerTransports.join(', ')}`);
  }
  // Processes inherit it.
  process.env['SUPPORT_DESK_TRANSPORT'] = values.transport;
  // A URL may hold a password, and is not repeated.
  const scheme = /^([a-z]+):\/\//.exec(values.store ?? '')?.[1];
  const database = scheme === 'postgres' || scheme === 'postgresql';
  if (scheme !== undefined && !database) {
    throw new RangeError(
      `--store ${scheme}://…: there is postgres://… and the path of a folder for SQLite`,
    );
  }
  return {
    stays: values.stay && !values.once,
    checks: !values.stay,
    json: values.json,
    one: deskCase(values.case),
    fault: values.fault === undefined ? undefined : faultNamed(values.fault),
    folder: database ? undefined : values.store,
    store: database ? values.store : undefined,
  };
}

function checksOf(outcome: Outcome, caseId: string, fault: CheckName | undefined): Check[] {
  const { answer, view, tokens, followUp } = outcome;
  Object.assign(process.env, faultEnv(fault, 'checks'));
  if (fault === 'tokens-recount') appendFileSync(tokens.files.handedOver, ' one more word');
  const reader = view.participants.find(({ name }) => name === 'Policy reader')?.id;
  const [lookUpsBefore, lookUpsAfter] = followUp.lookUps;
  return [
    fourWrongTransactions(caseId, answer),
    citationsVerbatim(answer, outcome.delivered),
    isolation(outcome.isolation),
    tokensRecount(tokens),
    grantFollowUp({
      rows: answer.rows,
      followUp: followUp.answer,
      contextId: outcome.contextId,
      followUpContextId: followUp.contextId,
      lookUpsBefore,
      lookUpsAfter,
    }),
    strangerRefused(outcome.stranger),
    killResume(view, { killed: outcome.killed, lookUp: reader }),
    retrieval(),
  ];
}

/** Runs the command line, so that what it shows is told as it shows it. */
function throughline(stream: NodeJS.WriteStream & { fd: number }, ...args: string[]): void {
  const bin = join(repository, 'packages/throughline/bin/throughline.mjs');
  spawnSync(process.execPath, [bin, ...args], { stdio: ['ignore', stream.fd, 'inherit'] });
}

/** Keys and files. A database is no good without its keys, which are kept for the next time. */
function dataFolder(stays: boolean, folder?: string, store?: string): string {
  const kept = join(repository, '.throughline');
  if (store !== undefined) return join(kept, 'postgres');
  if (stays) return resolve(folder ?? kept);
  return folder ?? mkdtempSync(join(tmpdir(), 'throughline-'));
}

async function main(): Promise<void> {
  outliveReaders();
  endOnUncaught();
  const { stays, checks: checked, json, one, fault, folder, store } = readOptions();
  const told = json ? process.stderr : process.stdout;
  const tell = teller(told);
  const dataDir = dataFolder(stays, folder, store);
  needRoom(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const who = one.customer === null ? 'A visitor' : (bank().customer(one.customer)?.name ?? '');
  tell.title(`${who} writes to the bank (case ${one.id}):`);
  tell.quote(`“${one.openingMessage}”`);
  const { desk, outcome } = await tellStory({
    one,
    dataDir,
    tell,
    ...(store !== undefined && { store }),
    ...(fault !== undefined && { fault }),
  });
  try {
    const { contextId, tokens, view, answer } = outcome;
    tell.title('The case');
    throughline(told, 'case', 'show', contextId, '--data', dataDir);
    tell.line();
    const { handedOver: sent, fullHistory: full } = tokens;
    tell.say(`In all, ${describeSent({ sent, fullHistory: full })}.`);
    const checks = checked ? checksOf(outcome, one.id, fault) : [];
    if (checks.length > 0) tell.title('Checks');
    for (const { name, ok } of checks) tell.line(`  ${ok ? 'ok    ' : 'NOT OK'} ${name}`);
    if (checks.some(({ ok }) => !ok)) process.exitCode = 1;
    if (json) {
      const { answer: text, citations, rows } = answer;
      const result = {
        version: 1,
        result: { answer: text, citations, rows },
        case: { contextId, tasks: outcome.tasks },
        counts: view.summary.counts,
        tokens,
        ...(checked && { checks }),
      };
      process.stdout.write(`${JSON.stringify(result)}\n`);
    }
    if (stays) {
      const at = dataDir === join(repository, '.throughline') ? '' : ` --data ${dataDir}`;
      tell.line();
      const { url } = await desk.parts.operator.pageAddress();
      tell.say(`The hub stays up. The case in a browser (this address counts once, for a minute):`);
      tell.line(`  ${url}/case/${contextId}`);
      tell.line('Another address, and the case’s timeline:');
      tell.line(`  npx throughline page${at}`);
      tell.line(`  npx throughline case show ${contextId} --timeline${at}`);
      tell.line('Ctrl-C ends it.');
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    }
  } finally {
    await desk.stop();
  }
}

try {
  await main();
} catch (error) {
  const isUsage = error instanceof RangeError || (error instanceof TypeError && 'code' in error);
  process.stderr.write(`${lastWords(error)}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
