import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from './source.ts';

/** Names in the second column of the table under a heading. */
function filesUnder(heading: string): string[] {
  const text = readFileSync(join(repository, 'docs/architecture.md'), 'utf8');
  const [, after = ''] = text.split(`## ${heading}\n`);
  const [section = ''] = after.split('\n## ');
  const cells = section.split('\n').flatMap((line) => line.split('|')[2] ?? []);
  return cells.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name));
}

describe('the map of the hub', () => {
  it('names each of its files once, and no other', () => {
    const folder = join(repository, 'packages/throughline/src/hub');
    const files = readdirSync(folder).filter((name) => /^[a-z-]+\.ts$/.test(name));
    expect(filesUnder('The hub, room by room').toSorted()).toEqual(
      files.map((name) => name.slice(0, -3)).toSorted(),
    );
  });
});
