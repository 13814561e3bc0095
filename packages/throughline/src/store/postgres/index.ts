export { openPostgresStore, type PostgresOptions } from '../postgres.ts';
