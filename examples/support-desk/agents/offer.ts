/** What the desk knows of a case, in pieces that can be handed over or kept back one by one. */
import { bank, type BankRecord } from '../bank.ts';
import { deriveSubQuestions } from '../sub-questions.ts';
import { namesOfFields, shareWith } from '../withheld.ts';

/** A piece of context as the Master takes it. */
export interface Offered {
  name: string;
  type: 'text' | 'dataset';
  mediaType: string;
  description: string;
  content: string;
}

const json = (name: string, about: string, value: unknown): Offered => ({
  name,
  type: 'dataset',
  mediaType: 'application/json',
  description: `${name}: ${about}`,
  content: JSON.stringify(value),
});

const plain = (name: string, about: string, content: string): Offered => ({
  name,
  type: 'text',
  mediaType: 'text/plain',
  description: `${name}: ${about}`,
  content,
});

/** Each kind of personal data in a record as an item of its own, so that keeping it back shows. */
function personalData(record: BankRecord): Offered[] {
  const values = new Map<string, Set<string>>();
  for (const [field, value] of Object.values(record).flat().flatMap(Object.entries)) {
    const name = namesOfFields.get(field);
    if (name === undefined || value === null || value === undefined) continue;
    const known = values.get(name) ?? new Set();
    values.set(name, known.add(typeof value === 'string' ? value : JSON.stringify(value)));
  }
  // The most sensitive first, which is the order of the names.
  return [...new Set(namesOfFields.values())].flatMap((name) => {
    const all = values.get(name);
    return all === undefined ? [] : [json(name, 'in the record at the bank', [...all])];
  });
}

/** Everything a case is offered with. `customer`: the bank's user id, or null where it knows none. */
export function offerOf(message: string, customer: string | null): Offered[] {
  const record = customer === null ? {} : bank().fullRecord(customer);
  const holdings = bank().holdings(customer);
  const name = shareWith('case-writer', record).shared['users']?.[0]?.['name'];
  const firstName = typeof name === 'string' ? (name.split(' ')[0] ?? null) : null;
  const transactions = customer === null ? [] : bank().cardTransactions(customer);
  return [
    ...personalData(record),
    plain('opening message', 'what the customer wrote', message),
    json('questions', 'what to look up', deriveSubQuestions(message, holdings)),
    json('holdings', 'products that the customer holds', holdings),
    json('transactions', 'card transactions and the rewards credited for them', {
      transactions,
      cards: holdings.cards,
    }),
    json('first name', 'how to address the customer', { firstName }),
  ];
}
