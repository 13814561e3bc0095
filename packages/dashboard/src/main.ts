import { config } from 'zod';

// Before any schema is made: zod's compiled validators need `eval`, which the page's policy refuses.
config({ jitless: true });

const { start } = await import('./start.tsx');
start(document);
