/**
 * What a framework's sub-agent is sent first, caught at a mock model. Reads lines of JSON with `history`
 * (what stands in the conversation) and `question` (what is delegated); writes each prompt as JSON into
 * the file named second, a line each.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , framework, file] = process.argv;
const { capture } = await import(new URL(`${framework}.mjs`, import.meta.url));
const out = openSync(file, 'w');
for await (const line of createInterface({ input: process.stdin })) {
  const { history, question } = JSON.parse(line);
  writeSync(out, `${JSON.stringify(await capture(history, question))}\n`);
}
closeSync(out);
// Some of them keep timers and watchers for good.
process.exit(0);
