import type { HubClient } from '../../client/index.ts';
import { ThroughlineError } from '../../errors.ts';
import type { Assertion } from '../../model/assertion.ts';
import { feedTypes } from '../../model/feed.ts';
import { limits } from '../../model/limits.ts';
import type { Output } from '../output.ts';
import { timelineLines } from '../views/timeline.ts';
import { Words } from '../views/words.ts';

const maxPages = 1_000;

/** All assertions of a case, in order. */
export async function readTimeline(client: HubClient, id: string): Promise<Assertion[]> {
  const assertions: Assertion[] = [];
  let after: number | undefined = 0;
  for (let page = 0; after !== undefined; page++) {
    if (page === maxPages) {
      throw new ThroughlineError('too-large', `the timeline of ${id} is longer than can be shown`);
    }
    const { assertions: more, next } = await client.timeline(id, { after, limit: limits.pageSize });
    assertions.push(...more);
    after = next;
  }
  return assertions;
}

/**
 * The timeline, then each assertion as it comes, one a line; with `--json` one object a line. It goes on
 * until it is stopped from outside: a hub that is away comes back, and nothing is missed. Throws once
 * the case may not be seen any more, or the key does not count.
 */
export async function followCase(client: HubClient, id: string, out: Output): Promise<void> {
  const numbers = new Map<string, number>();
  let words: Words | undefined;
  let shown = 0;
  const show = (assertions: readonly Assertion[]): void => {
    if (words === undefined) return;
    const fresh = assertions.filter(({ seq }) => seq > shown);
    // Of all together, so that they line up.
    const lines = timelineLines(words, fresh, numbers);
    for (const [at, assertion] of fresh.entries()) {
      out.result({ assertion }, () => lines.slice(at, at + 1));
      shown = assertion.seq;
    }
  };
  const isNews = telling(out);
  for await (const { event } of client.feed.follow({ case: id, onState: isNews })) {
    if (event.type === feedTypes.assertion) {
      if (brings(event.data)) words = new Words(await client.caseView(id), out.terminal);
      show([event.data]);
    } else if (event.type === feedTypes.gap) {
      out.note(gapWords(event.data));
      if (event.data.reason === 'other-history') shown = 0;
    } else if ('case' in event.data) {
      words = new Words(event.data.case, out.terminal);
      // What comes while this is read is in it, and comes by the feed again.
      show(await readTimeline(client, id));
    }
  }
}

/** Whether it may name somebody who was not there before. */
const brings = ({ statement: { says } }: Assertion): boolean =>
  says === 'dialog.opened' || says === 'dialog.joined';

const gapWords = ({ reason, first, last }: { reason: string; first?: number; last?: number }) =>
  first === undefined
    ? `The hub’s history is another one (${reason}); here is the case as it is now.`
    : `${first === last ? `#${first}` : `#${first} to #${last}`} can’t be shown: ${reason}.`;

/** Notes when the hub is away, and when it is back. */
function telling(out: Output): (state: 'live' | 'reconnecting') => void {
  let wasAway = false;
  return (state) => {
    if (state === 'reconnecting') out.note('The hub is not reached; waiting for it …');
    else if (wasAway) out.note('The hub is back.');
    wasAway = state === 'reconnecting';
  };
}
