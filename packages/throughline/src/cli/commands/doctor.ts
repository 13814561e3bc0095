import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { clientOf, command, hubOf, outputOf, withHub, type Surroundings } from '../command.ts';
import { DataFolder } from '../data-folder.ts';
import { check, type Check } from '../doctor/check.ts';
import { lookAtClock, lookAtVersion } from '../doctor/hub.ts';
import {
  lookAtDisk,
  lookAtFile,
  lookAtFolder,
  lookAtKeys,
  lookAtNode,
  lookAtPort,
  lookAtServer,
  lookForTool,
} from '../doctor/machine.ts';
import { isShared } from '../open-store.ts';
import type { Output } from '../output.ts';
import { pad, wrap } from '../terminal.ts';

const optionsSchema = z.object({ data: z.string(), store: z.string().optional() });
const usualPort = 4_680;

/** `throughline doctor`: what is well and what is not, each with what to do. */
export const doctorCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('doctor', 'Checks this machine, the folder, the store, the hub and the key', [
      'doctor',
      'doctor --json',
      'doctor --store postgres://hub@db.example.com/hub',
    ]),
  )
    .addOption(
      new Option('--store <where>', 'the hub’s store, where it is not in the folder').env(
        'THROUGHLINE_STORE',
      ),
    )
    .action(async (options: unknown) => {
      const { data, store } = optionsSchema.parse(options);
      const checks = [
        ...(await lookHere(new DataFolder(data), store)),
        ...(await lookAtHub(options)),
        await check('python3', () => lookForTool('python3', '--version', 'agents in Python')),
        await check('ffmpeg', () => lookForTool('ffmpeg', '-version', 'pieces of sound and film')),
      ];
      const out = outputOf(surroundings, options);
      show(out, checks);
      const failures = checks.flatMap(({ failure }) => failure ?? []);
      const [first] = failures;
      if (first === undefined) return;
      const of = `${failures.length} of ${checks.length}`;
      throw new ThroughlineError(first.code, `${of} checks failed.`);
    });

async function lookHere(folder: DataFolder, store?: string): Promise<Check[]> {
  const shared = isShared(store);
  const keyFile = join(folder.path, 'domain.key');
  return [
    await check('node', () => lookAtNode()),
    await check('data-folder', () => lookAtFolder(folder)),
    await check('key-files', () => lookAtKeys(folder, store === undefined)),
    await check('store', () =>
      store === undefined || !shared
        ? lookAtFile(store ?? folder.database, keyFile)
        : lookAtServer(store, keyFile),
    ),
    await check('disk', () => lookAtDisk(folder)),
  ];
}

async function lookAtHub(options: unknown): Promise<Check[]> {
  const answers = await check('hub-answers', async () => {
    await clientOf(options).health();
    return hubOf(options).url;
  });
  if (answers.failure !== undefined) {
    const port = await check('port', () => lookAtPort(usualPort));
    return [answers, port];
  }
  const { url, key } = hubOf(options);
  const valid = await check('key-is-valid', async () => {
    const { id, role, tenant } = await clientOf(options).whoAmI();
    return `${id}, ${role} of ${tenant}`;
  });
  // It describes its API to whom it knows.
  const version = () => check('hub-version', () => lookAtVersion(url, key));
  return [
    answers,
    valid,
    ...(valid.failure === undefined ? [await version()] : []),
    await check('clock', () => lookAtClock(url)),
  ];
}

const marks = {
  ok: ['green', 'ok  '],
  warn: ['yellow', 'warn'],
  fail: ['red', 'FAIL'],
} as const;

function show(out: Output, checks: readonly Check[]): void {
  const json = checks.map(({ name, state, saw, advice }) => ({
    name,
    ok: state !== 'fail',
    state,
    saw,
    ...(advice === undefined ? {} : { advice }),
  }));
  const { paint, width: columns = Infinity } = out.terminal;
  const width = Math.max(...checks.map(({ name }) => name.length));
  out.result({ checks: json }, () =>
    checks.flatMap(({ name, state, saw, advice }) => {
      const [style, mark] = marks[state];
      const indent = ' '.repeat(mark.length + width + 4);
      const said = [...saw.split('\n'), ...(advice === undefined ? [] : [`→ ${advice}`])];
      const lines = said.flatMap((line) => wrap(line, columns - indent.length));
      return lines.map((line, at) =>
        at === 0 ? `${paint(style, mark)}  ${pad(name, width)}  ${line}` : `${indent}${line}`,
      );
    }),
  );
}
