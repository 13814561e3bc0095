import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { describeStore } from './conformance.ts';
import { openSqliteStore } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

describeStore('SQLite store in a file', (limits) =>
  openSqliteStore({ ...limits, path: join(folder, `${files++}.db`) }),
);

describeStore('SQLite store in memory', (limits) =>
  openSqliteStore({ ...limits, path: ':memory:' }),
);
