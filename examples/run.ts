import { run } from '../scripts/dispatch.ts';

await run({
  script: 'example',
  what: 'example',
  folder: new URL('./', import.meta.url),
  options: { transport: ['jsonrpc', 'http-json', 'grpc'] },
});
