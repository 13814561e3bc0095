/**
 * What a framework's sub-agent and its leader are asked first, caught at mock models. Reads lines of JSON
 * with `history` (what stands in the conversation), `question` (what is delegated) and `settings`; writes
 * what each came to as JSON into the file named second, a line each.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , framework, file] = process.argv;
const { capture } = await import(new URL(`${framework}.mjs`, import.meta.url));
const out = openSync(file, 'w');
for await (const line of createInterface({ input: process.stdin })) {
  const { history, question, settings } = JSON.parse(line);
  writeSync(out, `${JSON.stringify(await capture(history, question, settings))}\n`);
}
closeSync(out);
// Some of them keep timers and watchers for good.
process.exit(0);
