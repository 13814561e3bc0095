import type { Counter } from './counter.ts';
import { refusalOf, type Rewrite, type RewriteRequest } from './rewrite.ts';
import type { Work } from './work.ts';

/** Takes over rewrites that are accepted; a refused one is noted and extraction does the work. */
export function takeRewrites(
  works: readonly Work[],
  requests: readonly RewriteRequest[],
  rewrites: readonly Rewrite[],
  { count }: Counter,
): void {
  const byId = new Map(works.map((work) => [work.item.ContextID, work]));
  const asked = new Map(requests.map((request) => [request.contextId, request]));
  for (const rewrite of rewrites) {
    const work = byId.get(rewrite.contextId);
    const request = asked.get(rewrite.contextId);
    if (work === undefined || request === undefined || work.did === 'rewritten') continue;
    const tokens = count(rewrite.text);
    const refusal = refusalOf(request, rewrite, tokens);
    if (refusal !== undefined) {
      work.notes.push(`The rewrite by ${rewrite.by} is refused: ${refusal}.`);
      continue;
    }
    Object.assign(work, { text: rewrite.text, after: tokens, did: 'rewritten' });
    delete work.mediaType;
    work.strategy = `${rewrite.kind} ${rewrite.by}`;
    const { length } = request.text;
    if (rewrite.read < length) {
      work.notes.push(`${rewrite.by} read ${rewrite.read} of ${length} characters.`);
    }
  }
}
