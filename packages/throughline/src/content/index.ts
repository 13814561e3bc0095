export { maxObjectBytes, maxObjectIds, type ContentDriver } from './content.ts';
export { openFileContent } from './files.ts';
export { openMemoryContent } from './memory.ts';
export { createMediaCut, cut, type CutMedia, type Piece } from './selectors/index.ts';
