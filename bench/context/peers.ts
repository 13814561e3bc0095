import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countTokens } from 'throughline/handover';
import { says, subQuestion, type Chain } from './data.ts';

const folder = fileURLToPath(new URL('peers/', import.meta.url));

/** A framework that stands beside. */
export interface Framework {
  /** The module of the folder that drives it. */
  readonly module: string;
  readonly package: string;
}
const frameworks: readonly Framework[] = [
  { module: 'langgraph-supervisor', package: '@langchain/langgraph-supervisor' },
  { module: 'openai-agents', package: '@openai/agents' },
  { module: 'google-adk', package: '@google/adk' },
  { module: 'mastra', package: '@mastra/core' },
];

/** What a sub-agent is sent first when a Master of that framework delegates each hop. */
export interface PeerMeasured {
  /** Package and version. */
  readonly name: string;
  /** Tokens of the prompt ÷ tokens of what stands in the conversation, over all hops. */
  readonly tokens: number;
  /** Share of chains of which every hop's prompt has its answer. */
  readonly kept: number;
  /** Share of prompts that have what the user had said in confidence before. */
  readonly leaked: number;
}

/** Said in the conversation before, and of no concern to any hop. */
const canary = 'In confidence: canary-of-the-conversation-4c81';

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

interface Ask {
  readonly history: readonly string[];
  readonly question: string;
}

/** Has a framework delegate, and gives the first prompt of its sub-agent for each. */
function promptsOf(framework: Framework, asks: readonly Ask[]): string[] {
  const scratch = mkdtempSync(join(tmpdir(), 'throughline-bench-'));
  const file = join(scratch, 'prompts.jsonl');
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
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.map((line): string => JSON.parse(line));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

export function measurePeer(framework: Framework, chains: readonly Chain[]): PeerMeasured {
  const hops = chains.flatMap((chain, of) =>
    chain.question_decomposition.map((hop) => ({ of, hop, ask: askOf(chain, hop) })),
  );
  const prompts = promptsOf(
    framework,
    hops.map(({ ask }) => ask),
  );
  const lost = new Set<number>();
  let [tokens, leaked] = [0, 0];
  for (const [at, { of, hop, ask }] of hops.entries()) {
    const prompt = prompts[at] ?? '';
    if (!says(prompt, hop.answer)) lost.add(of);
    tokens += countTokens(prompt) / countTokens(ask.history.join('\n'));
    leaked += Number(prompt.includes(canary));
  }
  return {
    name: `${framework.package} ${versionOf(framework) ?? ''}`,
    tokens: tokens / hops.length,
    kept: 1 - lost.size / chains.length,
    leaked: leaked / hops.length,
  };
}

const askOf = (chain: Chain, hop: Chain['question_decomposition'][number]): Ask => ({
  history: [
    canary,
    ...chain.paragraphs.map(({ title, paragraph_text: text }) => `${title}\n${text}`),
  ],
  question: subQuestion(chain, hop),
});
