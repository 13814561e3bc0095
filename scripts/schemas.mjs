#!/usr/bin/env node
/**
 * Writes spec/schemas and spec/openapi.json anew from the code's own schemas. Needs a Node that reads TypeScript: 22.18 or
 * newer. A test compares what lies there with what this writes.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jsonSchemas } from '../packages/throughline/src/model/json-schemas.ts';
import { openApi } from '../packages/throughline/src/server/openapi.ts';
import { routeGroups } from '../packages/throughline/src/server/routes.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'spec/schemas');
const schemas = jsonSchemas();

mkdirSync(folder, { recursive: true });
for (const file of readdirSync(folder)) {
  if (file.endsWith('.json') && !(file.slice(0, -5) in schemas)) rmSync(join(folder, file));
}
for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(schema, null, 2)}\n`);
}
const api = join(root, 'spec/openapi.json');
writeFileSync(api, `${JSON.stringify(openApi(routeGroups, 'https://hub.example'), null, 2)}\n`);
const formatter = join(root, 'node_modules/.bin/oxfmt');
const { status } = spawnSync(formatter, [folder, api], { stdio: ['ignore', 2, 2] });
if (status !== 0) throw new Error('oxfmt could not format spec/schemas; run npm install first');
process.stderr.write(
  `Wrote ${Object.keys(schemas).length} schemas to spec/schemas, and spec/openapi.json.\n`,
);
