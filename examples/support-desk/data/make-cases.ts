/**
 * Makes `cases.json` (what the desk reads) and `expected.json` (what only the checks read)
 * from the customer cases of tau2-bench's banking_knowledge domain.
 *
 *     node examples/support-desk/data/make-cases.ts PATH/tasks.json [FOLDER]
 *
 * A case's instructions are written for somebody who plays the customer. Only the sentence the
 * customer opens with may reach an agent, so nothing else of them is copied.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { bank, type Customer } from '../bank.ts';

const taskSchema = z.object({
  id: z.string(),
  instructions: z.string(),
  actions: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })),
  required_documents: z.array(z.string()),
});
type Task = z.infer<typeof taskSchema>;

/** A sentence inside a quoted opening that directs the player rather than being said. */
const stageDirection = /\bthe agent\b/i;

function sentences(text: string): string[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
  return [...segmenter.segment(text)].map((part) => part.segment.trim()).filter(Boolean);
}

function firstPerson(sentence: string): string {
  const spoken = sentence
    .replaceAll(/\s*\([^)]*\)/g, '')
    .replaceAll(/\byou're\b/gi, "I'm")
    .replaceAll(/\b(gives?|for|to|with) you\b/gi, '$1 me')
    .replaceAll(/\byour\b/gi, 'my')
    .replaceAll(/\byou\b/gi, 'I')
    .replaceAll(/\bI are\b/g, 'I am')
    .replace(/:.*$/, '.')
    .trim();
  return spoken.charAt(0).toUpperCase() + spoken.slice(1);
}

/** The quoted opening line, or where none is quoted, the wish told in the first person. */
export function openingMessage(instructions: string): string {
  const marked = /(?:\bOpening\b|Start naturally)[^"]*"([^"]+)"/.exec(instructions)?.[1];
  if (marked !== undefined) {
    return sentences(marked)
      .filter((sentence) => !stageDirection.test(sentence))
      .join(' ');
  }
  const told = /Start by (?:saying|mentioning) (?:that )?([^\n]+)/.exec(instructions)?.[1];
  if (told !== undefined) return `Hi, ${firstPerson(told).replace(/^My\b/, 'my')}`;
  const wishes = sentences(instructions)
    .filter((sentence) => /^(You're looking for|You want)\b/.test(sentence))
    .map(firstPerson);
  return `Hi! ${wishes.join(' ')}`;
}

/** True when what the instructions state about the customer contradicts the bank's record. */
function contradicts(customer: Customer, text: string): boolean {
  const stated = [
    [/\b\d{3}-\d{3}-\d{4}\b/.exec(text)?.[0], customer.phone_number],
    [/\b[\w.+-]+@[\w-]+\.\w+\b/.exec(text)?.[0], customer.email],
    [/(?:DOB|birth)[^0-9\n]{0,20}(\d{2}\/\d{2}\/\d{4})/.exec(text)?.[1], customer.date_of_birth],
  ];
  return stated.some(([said, known]) => said !== undefined && said !== known);
}

/** A name alone is no proof: one more fact of the record must be stated too. */
function corroborated(customer: Customer, text: string): boolean {
  const city = customer.address.split(', ').at(-2) ?? customer.address;
  const facts = [
    customer.user_id,
    customer.phone_number,
    customer.email,
    customer.date_of_birth,
    city,
  ];
  return facts.some((fact) => text.includes(fact));
}

/** The bank's user id of the customer played, or null where the record can't tell. */
export function customerOf(instructions: string): string | null {
  const named = bank()
    .customers()
    .filter((customer) => instructions.includes(customer.name))
    .filter((customer) => corroborated(customer, instructions))
    .filter((customer) => !contradicts(customer, instructions));
  const only = named.length === 1 ? named[0] : undefined;
  return only?.user_id ?? null;
}

/** Transaction ids the customer ends up disputing as wrong cash back. */
function disputedTransactions(task: Task): string[] {
  const calls = task.actions
    .filter((action) => JSON.stringify(action.arguments).includes('submit_cash_back_dispute'))
    .map((action) => JSON.stringify(action.arguments));
  const ids = calls.flatMap((call) => call.match(/txn_[0-9a-z_]+/g) ?? []);
  return [...new Set(ids)];
}

function main(path: string, folder: URL): void {
  const tasks = z.array(taskSchema).parse(JSON.parse(readFileSync(path, 'utf8')));
  const cases = tasks.map((task) => ({
    id: task.id,
    customer: customerOf(task.instructions),
    openingMessage: openingMessage(task.instructions),
  }));
  const expected = tasks.map((task) => {
    const disputed = disputedTransactions(task);
    return {
      id: task.id,
      requiredDocuments: task.required_documents,
      ...(disputed.length > 0 ? { disputedTransactions: disputed } : {}),
    };
  });
  const write = (name: string, value: unknown): void =>
    writeFileSync(new URL(name, folder), `${JSON.stringify(value, null, 2)}\n`);
  write('cases.json', cases);
  write('expected.json', expected);
  console.log(
    `${cases.length} cases, ${cases.filter((c) => c.customer !== null).length} customers`,
  );
}

if (import.meta.main) {
  const [path, folder] = process.argv.slice(2);
  if (path === undefined) {
    console.error('usage: node examples/support-desk/data/make-cases.ts PATH/tasks.json [FOLDER]');
    process.exitCode = 2;
  } else {
    main(path, folder === undefined ? new URL('.', import.meta.url) : pathToFileURL(`${folder}/`));
  }
}
