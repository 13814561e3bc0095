export { inspectPostgresStore, openPostgresStore, type PostgresOptions } from '../postgres.ts';
