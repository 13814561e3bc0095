/** Puts content into a folder until it is killed; says each id once the driver says it is kept. */
import { createHash, randomBytes } from 'node:crypto';
import { openFileContent } from '../src/content/files.ts';

const content = await openFileContent({ path: process.argv[2] ?? '' });
for (;;) {
  const id = randomBytes(16).toString('hex');
  const bytes = Buffer.alloc(200_000, createHash('sha256').update(id).digest());
  await content.put(id, bytes);
  process.stdout.write(`${id}\n`);
}
