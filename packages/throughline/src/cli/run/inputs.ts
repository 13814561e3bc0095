import { basename, extname } from 'node:path';
import { ThroughlineError } from '../../errors.ts';
import { contextTypeOf, type OfferedContent } from '../../master/index.ts';
import { limits } from '../../model/limits.ts';
import { readBytes } from './agents-file.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
};

/**
 * A context item from the command line: `name=text`, or `name=@file` whose type goes by its ending.
 *
 * @throws ThroughlineError `invalid`, `too-large`.
 */
export function inputOf(given: string): OfferedContent {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
  if (name === undefined || value === undefined) {
    throw new ThroughlineError(
      'invalid',
      `--input ${given}: give name=text, or name=@file for the content of a file`,
    );
  }
  if (!value.startsWith('@')) {
    const description = `The ${name}`;
    return { name, type: 'text', mediaType: 'text/plain', description, content: value };
  }
  const path = value.slice(1);
  const mediaType = mediaTypes[extname(path).toLowerCase()] ?? 'application/octet-stream';
  return {
    name,
    type: contextTypeOf(mediaType),
    mediaType,
    description: `The ${name}, from ${basename(path)}`,
    content: readBytes(path, limits.contentBytes),
  };
}
