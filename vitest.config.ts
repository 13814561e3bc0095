import { defineConfig } from 'vitest/config';

const source = new URL('packages/throughline/src/', import.meta.url).pathname;
/** The page uses the package by its public subpaths; its tests take them from the sources. */
const alias = [
  { find: /^throughline\/(.+)$/, replacement: `${source}$1/index.ts` },
  { find: /^throughline$/, replacement: `${source}index.ts` },
];

export default defineConfig({
  test: {
    environment: 'node',
    // Most of them wait for engines and processes; one a core, where the default leaves a core free.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          name: 'throughline',
          root: 'packages/throughline',
          include: ['src/**/*.test.ts'],
          isolate: false,
          // Real engines and processes: on a busy machine they take their time.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          // These use the package as its users have it: built, and in processes of their own.
          name: 'built',
          testTimeout: 60_000,
          include: [
            'packages/throughline/test/**/*.test.ts',
            '{examples,bench,scripts}/**/*.test.ts',
          ],
          globalSetup: ['scripts/build.mjs'],
        },
      },
      {
        extends: true,
        resolve: { alias },
        test: {
          name: 'dashboard',
          root: 'packages/dashboard',
          include: ['src/**/*.test.{ts,tsx}'],
          environment: 'happy-dom',
        },
      },
      {
        extends: true,
        resolve: { alias },
        test: {
          // The built page in a real browser, against a hub in a process of its own.
          name: 'page',
          root: 'packages/dashboard',
          include: ['test/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          globalSetup: ['test/build-page.ts'],
        },
      },
    ],
  },
});
