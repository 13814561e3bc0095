import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'node',
    projects: [
      {
        extends: true,
        test: {
          name: 'throughline',
          root: 'packages/throughline',
          include: ['src/**/*.test.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          // These use the package as its users have it: built, and in processes of their own.
          name: 'built',
          testTimeout: 30_000,
          include: [
            'packages/throughline/test/**/*.test.ts',
            '{examples,bench,scripts}/**/*.test.ts',
          ],
          globalSetup: ['scripts/build.mjs'],
        },
      },
    ],
  },
});
