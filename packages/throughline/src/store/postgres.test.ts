import { afterAll, beforeAll } from 'vitest';
import { describeStore } from './conformance.ts';
import { startPostgres, type TestServer } from './postgres/conformance.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop(), 60_000);

describeStore('PostgreSQL store', (limits) => server.store(limits));
