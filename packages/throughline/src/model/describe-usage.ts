import type { Spending, Usage } from './usage.ts';

const figure = (n: number): string => n.toLocaleString('en');
const tokens = (n: number): string => `${figure(n)} ${n === 1 ? 'token' : 'tokens'}`;

/** A share as a percentage; a small one keeps a decimal, and what is more than nothing is not 0 %. */
export function percent(share: number): string {
  const value = share * 100;
  const shown = value < 10 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value));
  return `${value > 0 && shown === '0' ? '< 0.1' : shown}\u00a0%`;
}

/** What was sent, against what handing over the whole history would have been. */
export function describeSent({
  sent,
  fullHistory,
}: Pick<Spending, 'sent' | 'fullHistory'>): string {
  const said = `${tokens(sent)} sent`;
  if (fullHistory === 0) return `${said}, where there was no history yet`;
  return sent > fullHistory
    ? `${said}, more than the history (${figure(fullHistory)})`
    : `${said}, ${percent(sent / fullHistory)} of the full history’s ${figure(fullHistory)}`;
}

/** Money in whatever unit the prices are in; a small amount keeps three digits, so that it is not 0. */
export const describeMoney = (money: number): string =>
  money.toLocaleString(
    'en',
    money < 1 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 },
  );

type Models = Pick<Spending, 'inputTokens' | 'outputTokens' | 'money' | 'unpriced'>;

/** What models cost, for a cell of a table: `≥` where not all has a price, `–` where none were used. */
export function describeCost({ inputTokens, outputTokens, money, unpriced }: Models): string {
  if (inputTokens + outputTokens === 0) return '–';
  if (money === undefined) return 'no price';
  return `${unpriced > 0 ? '≥ ' : ''}${describeMoney(money)}`;
}

/** What models used and cost; undefined where none were used. */
export function describeModels(spent: Models): string | undefined {
  const { inputTokens, outputTokens } = spent;
  if (inputTokens + outputTokens === 0) return undefined;
  return `models read ${tokens(inputTokens)} and wrote ${figure(outputTokens)}${costOf(spent)}`;
}

/** The same of one model, which it begins with. */
export function describeModel({ model, ...used }: Usage): string {
  const unpriced = used.money === undefined ? used.inputTokens + used.outputTokens : 0;
  const [input, output] = [tokens(used.inputTokens), figure(used.outputTokens)];
  return `${model}: ${input} in, ${output} out${costOf({ ...used, unpriced })}`;
}

function costOf({ money, unpriced }: Models): string {
  if (money === undefined) return ', no price known';
  return unpriced === 0
    ? `, cost ${describeMoney(money)}`
    : `, cost at least ${describeMoney(money)}, no price known for ${figure(unpriced)} of them`;
}

/** What local compression left, as agents say. */
export const describeCompressed = ({
  before,
  after,
}: NonNullable<Spending['compressed']>): string =>
  before === after
    ? `read whole, ${tokens(after)}`
    : `compressed where it was read, from ${tokens(before)} to ${figure(after)}`;
