// Reads card terms out of quoted sentences and recomputes rewards against them.
// The twin of check.py: both must give equal answers. Knows no bank, no card, no protocol.

const categories = {
  travel: ['travel'],
  software: ['software', 'saas'],
  media: ['media', 'advertising'],
  green: ['green', 'sustainable', 'eco-friendly'],
  operations: ['operations'],
  transportation: ['transportation', 'logistics'],
  groceries: ['groceries'],
  dining: ['dining'],
  entertainment: ['entertainment'],
  utilities: ['utilities'],
  shopping: ['shopping'],
};

const ratePattern =
  /(?:(\d) × )?(?:(?<![\d.])(\d{1,3}(?:\.\d{1,2})?)%|\$?(?<![\d.])(\d{1,3}(?:\.\d{1,2})?) (?:\w+ )?points? per dollar)/gi;
const otherScope = /\b(?:other|outside|standard|non-\w+|not)\b/i;
const allScope =
  /\b(?:all (?:eligible )?(?:purchases|categories|spend)|eligible (?:purchases|spend)|each posted purchase|on those transactions)\b/i;
const notARate =
  /\b(?:apr|apy|fee|fees|rebate|discount|reduction|off|conversion|example)\b|\bnot earn\b/i;
const earning = /\b(?:earn|earns|earned|cash back|back|points)\b/i;

/** Hundredths: of a percent, or of a point per dollar. */
const hundredths = (text) => {
  const [whole, fraction = ''] = text.split('.');
  return Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
};

const wordIn = (text, word) =>
  new RegExp(
    `(?<![\\w-])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?!\\w)`,
    'i',
  ).test(text);

const categoriesIn = (text) =>
  Object.keys(categories).filter((name) => categories[name].some((word) => wordIn(text, word)));

const scopesOf = (clause) => {
  if (otherScope.test(clause)) return ['other'];
  const named = categoriesIn(clause);
  if (named.length > 0) return named;
  return allScope.test(clause) ? ['all'] : [];
};

/** A sentence that states several rates is read clause by clause. */
const clausesOf = (quote) => {
  const rates = quote.match(ratePattern) ?? [];
  return rates.length > 1 ? quote.split(/, while | while |; /) : [quote];
};

const readRates = (term) => {
  const found = [];
  for (const clause of clausesOf(term.quote)) {
    const rates = [...clause.matchAll(ratePattern)];
    const [rate] = rates;
    if (rates.length !== 1 || notARate.test(clause) || !earning.test(clause)) continue;
    const value = hundredths(rate[2] ?? rate[3]);
    const inPoints = rate[2] === undefined;
    const promotional = rate[1] !== undefined || /multiplied by/i.test(clause);
    for (const scope of scopesOf(clause)) {
      found.push({ kind: 'rate', scope, value, inPoints, promotional, term });
    }
  }
  return found;
};

/** "The following merchants do NOT earn the bonus …" with the list that follows. */
const readExclusions = (term) => {
  const stated = /\b(?:merchants|retailers)\b[^\n]*?\b(?:not earn|earn\s+\*\*0%)[^\n]*/i.exec(
    term.quote,
  );
  if (stated === null) return [];
  const instead = [...stated[0].matchAll(ratePattern)];
  const perDollar = /(?<![\d.])(\d{1,3}(?:\.\d{1,2})?) points? per dollar/gi;
  const points = [...stated[0].matchAll(perDollar)].at(-1);
  const last = instead.at(-1);
  if (last === undefined) return [];
  const inPoints = points !== undefined;
  const value = hundredths(inPoints ? points[1] : last[2]);
  const found = [];
  let conditional = false;
  for (const line of term.quote.slice(stated.index).split('\n')) {
    if (/^(?:\*\*|#)/.test(line.trim())) conditional = /\bmonths\b|\bafter\b/i.test(line);
    const item = /^\s*- (.{1,60})$/.exec(line);
    if (item === null) continue;
    found.push({ kind: 'exclusion', merchant: item[1].trim(), value, inPoints, conditional, term });
  }
  return found;
};

/** "EV charging only qualifies … networks: A, B, or C." */
const readOnlyQualifies = (term) => {
  const stated = /\bcharging only qualifies for (\w+) rewards[^:\n]*: ([^.\n]+)\./i.exec(
    term.quote,
  );
  if (stated === null) return [];
  const names = stated[2].split(/,? or |, /).map((name) => name.trim());
  return [{ kind: 'only', category: stated[1].toLowerCase(), names, term }];
};

/** "2x cash back … for the first 6 months", its window, and whether it has to be claimed. */
const readPromotion = (term) => {
  const text = term.quote;
  const times = /\b(\d)x cash back\b|\bmultiplied by (\d)\b|\bearn (\d) × /i.exec(text);
  const months = /\b(?:first|lasts) (\d{1,2}) months\b/i.exec(text);
  const start = /\b(?:start date:|starting) (\d{4}-\d{2}-\d{2})/i.exec(text);
  const end = /\b(?:end date:|ending) (\d{4}-\d{2}-\d{2})/i.exec(text);
  const part = {
    times: times === null ? undefined : Number(times[1] ?? times[2] ?? times[3]),
    months: months === null ? undefined : Number(months[1]),
    start: start?.[1],
    end: end?.[1],
    claimed: /\bclaim(?:ed)?\b/i.test(text) ? true : undefined,
  };
  return Object.values(part).some((value) => value !== undefined)
    ? [{ kind: 'promotion', ...part, term }]
    : [];
};

/** "1 point = $0.01": what a point is worth, in hundredths of a cent. */
const readPointValue = (term) => {
  const stated = /\b1 point = \$0\.(?!00)(\d{2})(?!\d)/.exec(term.quote);
  return stated === null ? [] : [{ kind: 'point', cents: Number(stated[1]), term }];
};

/** Everything the quoted terms state, by card. Terms without a card hold for every card. */
export const readTerms = (terms) =>
  terms.flatMap((term) => [
    ...readExclusions(term),
    ...readOnlyQualifies(term),
    ...readPromotion(term),
    ...readPointValue(term),
    ...(readExclusions(term).length === 0 ? readRates(term) : []),
  ]);

/** Promotions put together from the sentences of one document. */
const promotionsOf = (facts) => {
  const byDocument = new Map();
  for (const fact of facts.filter((one) => one.kind === 'promotion')) {
    const whole = byDocument.get(fact.term.documentId) ?? { quotes: [] };
    for (const key of ['times', 'months', 'start', 'end', 'claimed']) whole[key] ??= fact[key];
    if (fact.times !== undefined) whole.rule ??= fact.term;
    byDocument.set(fact.term.documentId, whole);
  }
  return [...byDocument.values()].filter(
    (one) => one.times !== undefined && one.months !== undefined,
  );
};

/** MM/DD/YYYY to YYYY-MM-DD, so that dates compare as text. */
const isoDate = (text) => {
  const parts = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text ?? '');
  return parts === null ? undefined : `${parts[3]}-${parts[1]}-${parts[2]}`;
};

const pad = (value) => String(value).padStart(2, '0');

const addMonths = (date, months) => {
  const [year, month, day] = date.split('-').map(Number);
  const sum = month - 1 + months;
  return `${year + Math.floor(sum / 12)}-${pad((sum % 12) + 1)}-${pad(day)}`;
};

/** The promotion that multiplies a purchase; `unknown` where a term leaves it open. */
const promotionFor = (facts, date, opened) => {
  for (const promotion of promotionsOf(facts)) {
    if (opened === undefined) return { unknown: 'the day the card was opened is not given' };
    const inWindow =
      promotion.claimed === true ||
      ((promotion.start === undefined || opened >= promotion.start) &&
        (promotion.end === undefined || opened <= promotion.end));
    if (!inWindow || date < opened || date >= addMonths(opened, promotion.months)) continue;
    if (promotion.claimed === true)
      return { unknown: 'a promotion applies only if it was claimed' };
    return promotion;
  }
  return undefined;
};

const conflict = (rates) =>
  rates.some((rate) => rate.value !== rates[0].value || rate.inPoints !== rates[0].inPoints);

/** The rate a purchase earns by the terms, or why none can be told. */
const rateFor = (facts, transaction) => {
  const category = transaction.category.toLowerCase();
  const excluded = facts.find(
    (fact) => fact.kind === 'exclusion' && wordIn(transaction.merchant, fact.merchant),
  );
  if (excluded?.conditional)
    return { why: 'the terms depend on how long the subscription has run' };
  const rates = facts.filter((fact) => fact.kind === 'rate');
  const plainFirst = (scope) => {
    const found = rates.filter((rate) => rate.scope === scope);
    const plain = found.filter((rate) => !rate.promotional);
    return plain.length > 0 ? plain : found;
  };
  const known = Object.keys(categories).find(
    (name) => name === category || categories[name].includes(category),
  );
  const bonus = known === undefined ? [] : plainFirst(known);
  const standard = [plainFirst('other'), plainFirst('all')].find((found) => found.length > 0) ?? [];
  if (excluded !== undefined && (bonus.length > 0 || excluded.value === 0)) return excluded;
  const only = facts.find((fact) => fact.kind === 'only' && fact.category === known);
  const outside =
    only !== undefined &&
    /charg/i.test(transaction.merchant) &&
    !only.names.some((name) => wordIn(transaction.merchant, name));
  if (outside && standard.length > 0) return { ...standard[0], term: only.term };
  const chosen = bonus.length > 0 ? bonus : standard;
  if (chosen.length === 0) return { why: 'no term given states a rate for this card and category' };
  return conflict(chosen) ? { why: 'the terms given state different rates' } : chosen[0];
};

/** "$1,247.99" in cents; undefined for anything else. */
const centsOf = (amount) => {
  const parts = /^\$?(\d{1,3}(?:,\d{3}){0,2}|\d{1,9})\.(\d{2})$/.exec(amount);
  return parts === null ? undefined : Number(parts[1].replaceAll(',', '')) * 100 + Number(parts[2]);
};

const pointsOf = (text) => {
  const parts = /^(\d{1,9}) points$/.exec(text);
  return parts === null ? undefined : Number(parts[1]);
};

/** Expected points of one purchase, or why they can't be told. */
const expect = (facts, transaction, opened) => {
  const cents = centsOf(transaction.amount);
  const paid = pointsOf(transaction.rewards_earned);
  const date = isoDate(transaction.date);
  if (transaction.status !== 'COMPLETED') return { why: 'the purchase is not completed' };
  if (cents === undefined || paid === undefined || date === undefined) {
    return { why: 'amount, date or rewards are not in a known form' };
  }
  const rate = rateFor(facts, transaction);
  if (rate.why !== undefined) return rate;
  const worth = facts.find((fact) => fact.kind === 'point');
  if (!rate.inPoints && worth === undefined)
    return { why: 'no term given states what a point is worth' };
  const promotion = promotionFor(facts, date, opened);
  if (promotion?.unknown !== undefined) return { why: promotion.unknown };
  const times = promotion?.times ?? 1;
  const divisor = rate.inPoints ? 10_000 : 10_000 * worth.cents;
  const rule = promotion?.rule ?? rate.term;
  // Whole numbers all the way: the bank cuts fractions off, and a binary fraction could cut one too many.
  const expected = Number((BigInt(cents) * BigInt(rate.value) * BigInt(times)) / BigInt(divisor));
  return { paid, expected, rule };
};

/**
 * Recomputes every transaction. `rows`: wrong by more than one point. `withinOnePoint`: off by
 * a single point, which is how a fraction was rounded, not which rate was applied.
 */
export const check = (transactions, terms, cards) => {
  const opened = new Map(cards.map((held) => [held.card, isoDate(held.opened)]));
  const facts = readTerms(terms);
  const answer = { rows: [], checked: 0, withinOnePoint: [], notAnswerable: [] };
  for (const transaction of transactions) {
    const own = facts.filter(
      ({ term }) => term.card === undefined || term.card === transaction.card,
    );
    const found = expect(own, transaction, opened.get(transaction.card));
    if (found.why !== undefined) {
      answer.notAnswerable.push({ transaction_id: transaction.transaction_id, why: found.why });
      continue;
    }
    answer.checked += 1;
    const missing = found.expected - found.paid;
    if (missing === 0) continue;
    const { transaction_id, merchant, date, card } = transaction;
    const { expected, paid, rule } = found;
    const row = {
      transaction_id,
      merchant,
      date,
      card,
      expected,
      paid,
      missing,
      unit: 'points',
      rule: { documentId: rule.documentId, quote: rule.quote },
    };
    if (Math.abs(missing) > 1) answer.rows.push(row);
    else answer.withinOnePoint.push(row);
  }
  return answer;
};
