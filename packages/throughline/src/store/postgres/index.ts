export {
  inspectPostgresStore,
  openPostgresStore,
  peekPostgresStore,
  type PostgresOptions,
} from '../postgres.ts';
