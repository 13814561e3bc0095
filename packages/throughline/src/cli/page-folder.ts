import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../../dist/page', import.meta.url));

/** Where the build puts the page, in a checkout as in the published package; undefined before it. */
export const pageFolder = (): string | undefined =>
  existsSync(join(built, 'index.html')) ? built : undefined;
