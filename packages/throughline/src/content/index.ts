export { maxObjectBytes, maxObjectIds, type ContentDriver } from './content.ts';
export { openFileContent } from './files.ts';
export { openMemoryContent } from './memory.ts';
