import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const source = new URL('../throughline/src/', import.meta.url).pathname;

export default defineConfig({
  // Relative, so that the hub may serve the page under any path.
  base: './',
  plugins: [react()],
  resolve: {
    alias: [
      { find: /^throughline\/(.+)$/, replacement: `${source}$1/index.ts` },
      { find: /^throughline$/, replacement: `${source}index.ts` },
    ],
  },
  // Nothing inlined as data: the policy that the hub serves the page under allows its own origin only.
  build: { assetsInlineLimit: 0, target: 'es2023', modulePreload: { polyfill: false } },
});
