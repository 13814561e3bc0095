import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { turnsOf, type Caught, type Conversation } from './delegations.ts';

const folder = fileURLToPath(new URL('peers/', import.meta.url));

/** A framework that stands beside. */
export interface Framework {
  /** The module of the folder that drives it. */
  readonly module: string;
  readonly package: string;
  /** How it delegates. */
  readonly by: string;
  /** What its module is told beside. */
  readonly settings?: Readonly<Record<string, number>>;
}
const frameworks: readonly Framework[] = [
  { module: 'langgraph-supervisor', package: '@langchain/langgraph-supervisor', by: 'hand-off' },
  { module: 'openai-agents', package: '@openai/agents', by: 'handoff' },
  { module: 'google-adk', package: '@google/adk', by: 'transfer' },
  {
    module: 'mastra',
    package: '@mastra/core',
    by: 'network, with the memory that it has by default',
  },
  {
    module: 'mastra',
    package: '@mastra/core',
    by: 'network, with a memory of the whole conversation',
    settings: { lastMessages: 1_000 },
  },
];

/**
 * Installs the frameworks into their own folder where they are not there yet; they are for this bench
 * alone. Gives those that are there.
 */
export function installPeers(): readonly Framework[] {
  const isThere = (each: Framework): boolean => versionOf(each) !== undefined;
  if (frameworks.every(isThere)) return frameworks;
  console.error('Installing the frameworks that stand beside; this takes a minute or two.');
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps', '--no-save'];
  spawnSync('npm', ['install', ...flags], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    timeout: 600_000,
  });
  return frameworks.filter(isThere);
}

function versionOf({ package: name }: Framework): string | undefined {
  const file = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(file)) return undefined;
  const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
  return version;
}

/** Package, version and how it delegates. */
export const nameOf = (framework: Framework): string =>
  `${framework.package} ${versionOf(framework) ?? ''} (${framework.by})`;

/** Has a framework delegate every question of these conversations, and gives what was asked first. */
export function catchTheirs(
  framework: Framework,
  conversations: readonly Conversation[],
): readonly Caught[] {
  const asks = conversations.flatMap((conversation) =>
    conversation.delegations.map(({ question }) => ({
      history: turnsOf(conversation),
      question,
      settings: framework.settings,
    })),
  );
  const scratch = mkdtempSync(join(tmpdir(), 'throughline-bench-'));
  const file = join(scratch, 'caught.jsonl');
  try {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(folder, 'capture.mjs'), framework.module, file],
      {
        input: asks.map((ask) => JSON.stringify(ask)).join('\n'),
        encoding: 'utf8',
        cwd: folder,
        timeout: 600_000,
        maxBuffer: 67_108_864,
      },
    );
    if (status !== 0)
      throw new Error(`${framework.package} can’t be measured: ${stderr.slice(-2_000)}`);
    const caught = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line): Caught => JSON.parse(line));
    if (caught.length !== asks.length)
      throw new Error(`${framework.package} delegated ${caught.length} of ${asks.length}`);
    return caught;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
