export { openS3Content, type S3Options } from './driver.ts';
