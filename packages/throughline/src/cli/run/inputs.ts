import { basename, extname } from 'node:path';
import { ThroughlineError } from '../../errors.ts';
import { contextTypeOf, type OfferedContent } from '../../master/index.ts';
import { digest as digestSchema } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { readBytes } from './files.ts';

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
 * A context item from the command line: `name=text`, `name=@file`, or `name=@https://…` for what lies in
 * another store. The type of the latter two goes by their ending; a digest may follow a URI as
 * `#sha-256:…`.
 *
 * @throws ThroughlineError `invalid`, `too-large`.
 */
export function inputOf(given: string): OfferedContent {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
  if (name === undefined || value === undefined) {
    throw new ThroughlineError(
      'invalid',
      `--input ${given}: give name=text, name=@file for the content of a file, or name=@https://… for what lies in another store`,
    );
  }
  if (!value.startsWith('@')) {
    const description = `The ${name}`;
    return { name, type: 'text', mediaType: 'text/plain', description, content: value };
  }
  const path = value.slice(1);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return elsewhere(name, path);
  const mediaType = mediaTypes[extname(path).toLowerCase()] ?? 'application/octet-stream';
  return {
    name,
    type: contextTypeOf(mediaType),
    mediaType,
    description: `The ${name}, from ${basename(path)}`,
    content: readBytes(path, limits.contentBytes),
  };
}

/** Another store gets to see the URI without the digest, which is for whoever reads it. */
function elsewhere(name: string, given: string): OfferedContent {
  const [uri = '', ...digests] = given.split('#');
  const digest = digests.join('#');
  if (!URL.canParse(uri)) {
    throw new ThroughlineError('invalid', `--input ${name}: what follows the @ is no URI`);
  }
  if (digest !== '' && !digestSchema.safeParse(digest).success) {
    throw new ThroughlineError(
      'invalid',
      `--input ${name}: after the # comes a digest, sha-256: and 64 hexadecimal digits`,
    );
  }
  const { pathname, host } = new URL(uri);
  const mediaType = mediaTypes[extname(pathname).toLowerCase()] ?? 'application/octet-stream';
  return {
    name,
    type: contextTypeOf(mediaType),
    mediaType,
    description: `The ${name}, from ${host}`,
    content: { uri, ...(digest !== '' && { digest }) },
  };
}
