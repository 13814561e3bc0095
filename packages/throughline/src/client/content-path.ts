import { ThroughlineError } from '../errors.ts';
import { idKind } from '../model/ids.ts';
import { segment } from './call.ts';

/**
 * The hub's route behind a ContextURI. Only its last segment is used, so that a URI made up by
 * somebody else never sends a key to another host. Throws `not-found`, as any refusal does.
 */
export function contentPath(uri: string): string {
  const { pathname } = URL.canParse(uri) ? new URL(uri) : { pathname: '' };
  const id = /^\/content\/([^/]+)$/.exec(pathname)?.[1] ?? '';
  if (idKind(id) !== 'resource') {
    throw new ThroughlineError('not-found', 'the URI names no content of this hub');
  }
  return `/content/${segment(id)}`;
}
