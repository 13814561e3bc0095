export { dbosEngine, type DbosEngineOptions } from './dbos-engine.ts';
