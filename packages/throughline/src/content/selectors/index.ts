export { cut, type Piece } from './cut.ts';
export { createMediaCut, type CutMedia } from './ffmpeg.ts';
export { intersect } from './range.ts';
