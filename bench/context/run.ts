import { cpus } from 'node:os';
import { asynchronousRow } from './asynchronous.ts';
import { besideRows } from './beside.ts';
import { measureFacts } from './covid.ts';
import { halves, readChains, readPapers, subQuestion } from './data.ts';
import { byLot, byPolicy, type HandOver } from './hand-over.ts';
import { measureChains } from './musique.ts';
import type { Framework } from './peers.ts';
import { row, type Result, type Row } from './row.ts';
import { measureSpeed } from './speed.ts';

/** The budget at which ours stand beside frameworks. */
const peerShare = 0.25;

/** Draws by lot whose mean stands beside. */
const lots = 5;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

interface Kept {
  readonly kept: number;
  readonly inPlace: number;
  readonly tokens: number;
  readonly mostTokens: number;
}

interface Asked<Of> {
  readonly name: string;
  readonly what: string;
  readonly all: readonly Of[];
  readonly share: number;
  readonly bar: number;
  readonly measure: (some: readonly Of[], share: number, handOver: HandOver) => Kept;
}

/**
 * One measure at one budget: kept at all, on which the bar stands; and, counted apart, kept in its own
 * place and not by chance in another.
 */
function rowsOf<Of>({ name, what, all, share, bar, measure }: Asked<Of>): Row[] {
  const { tuned, reported } = halves(all);
  const [onTuned, onReported, onAll] = [tuned, reported, all].map((some) =>
    measure(some, share, byPolicy),
  );
  if (onTuned === undefined || onReported === undefined || onAll === undefined) return [];
  const lot = Array.from({ length: lots }, (_, seed) => measure(reported, share, byLot(seed)));
  const at = `${name} at ≤ ${share * 100} % of the tokens`;
  const compare = (key: 'kept' | 'inPlace', title: string, least?: number): Row => {
    const drawn = lot.map((each) => each[key]);
    return row({
      name: `${at}: ${title}`,
      unit: what,
      ours: onReported[key],
      beside: mean(drawn),
      besideWhat: 'sentences drawn by lot at the same budget',
      spread: {
        'tuned half': onTuned[key],
        all: onAll[key],
        'least by lot': Math.min(...drawn),
        'most by lot': Math.max(...drawn),
        'mean share of tokens': onReported.tokens,
        'greatest share of tokens': onReported.mostTokens,
        'short of the bar': Math.max(0, bar - onReported[key]),
      },
      bar: least,
    });
  };
  return [
    compare('kept', 'answer kept', bar),
    compare('inPlace', 'answer kept in its place, not by chance elsewhere'),
  ];
}

/** Dividing first, beside compressing once for the user's question. */
function dividing(share: number): Row {
  const { reported } = halves(readChains());
  return row({
    name: `MuSiQue at ≤ ${share * 100} % of the tokens: compressed per sub-question`,
    unit: 'of chains with every answer kept in its place',
    ours: measureChains(reported, share, byPolicy).inPlace,
    beside: measureChains(reported, share, byPolicy, true).inPlace,
    besideWhat: 'compressed once for the user’s question',
    spread: {},
  });
}

function speedRow(
  name: string,
  texts: Parameters<typeof measureSpeed>[0],
  mediaType: string,
  bar?: number,
): Row {
  const { compressing, counting } = measureSpeed(texts, mediaType);
  return row({
    name,
    unit: 'MB per second of processor time',
    ours: compressing.median,
    beside: counting.median,
    besideWhat: 'only counting the tokens',
    spread: { least: compressing.least, most: compressing.most },
    ...(bar !== undefined && { bar }),
  });
}

/**
 * Measures compression on both data sets, beside these frameworks, then a Master's rounds; takes some
 * minutes.
 */
export async function run(frameworks: readonly Framework[]): Promise<Result> {
  const [chains, papers] = [readChains(), readPapers()];
  const musique = {
    name: 'MuSiQue',
    what: 'of chains, every hop',
    all: chains,
    measure: measureChains,
  };
  const covid = { name: 'COVID-QA', what: 'of facts', all: papers, measure: measureFacts };
  const rows = [
    ...rowsOf({ ...musique, share: 0.25, bar: 0.95 }),
    ...rowsOf({ ...musique, share: 0.1, bar: 0.8 }),
    ...rowsOf({ ...covid, share: 0.25, bar: 0.95 }),
    ...rowsOf({ ...covid, share: 0.1, bar: 0.9 }),
    dividing(0.25),
    ...(await besideRows(peerShare, frameworks)),
    speedRow(
      'prose compressed to a quarter, counting included',
      prose(papers, chains),
      'text/plain',
      2,
    ),
    speedRow(
      'JSON rows compressed to a quarter, counting included',
      tables(chains),
      'application/json',
    ),
    await asynchronousRow(),
  ];
  const [first] = cpus();
  const machine = { node: process.version, cpus: cpus().length, cpu: first?.model ?? 'unknown' };
  return { suite: 'context', machine, rows };
}

type Texts = Parameters<typeof measureSpeed>[0];

function prose(
  papers: ReturnType<typeof readPapers>,
  chains: ReturnType<typeof readChains>,
): Texts {
  return [
    ...papers.map(({ context, questions }) => ({
      text: context,
      question: questions[0]?.question ?? '',
    })),
    ...chains.map((chain) => ({
      text: chain.paragraphs.map(({ paragraph_text: text }) => text).join('\n\n'),
      question: firstQuestion(chain),
    })),
  ];
}

const firstQuestion = (chain: ReturnType<typeof readChains>[number]): string => {
  const [hop] = chain.question_decomposition;
  return hop === undefined ? chain.question : subQuestion(chain, hop);
};

function tables(chains: ReturnType<typeof readChains>): Texts {
  return chains.map((chain) => ({
    text: JSON.stringify(chain.paragraphs, undefined, 2),
    question: firstQuestion(chain),
  }));
}
