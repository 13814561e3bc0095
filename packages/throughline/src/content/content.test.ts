import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeContent } from './conformance.ts';
import { openFileContent } from './files.ts';
import { openMemoryContent } from './memory.ts';

const folder = mkdtempSync(join(tmpdir(), 'content-'));
let folders = 0;

describeContent('content in memory', () => Promise.resolve(openMemoryContent()));
describeContent(
  'content in files',
  () => openFileContent({ path: join(folder, `${++folders}`) }),
  () => openFileContent({ path: join(folder, `${folders}`) }),
);
