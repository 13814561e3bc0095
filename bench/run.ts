import { run } from '../scripts/dispatch.ts';

await run({
  script: 'bench',
  what: 'suite',
  folder: new URL('./', import.meta.url),
  options: {},
});
