import { afterEach, beforeEach, describe } from 'vitest';
import type { Suite } from './conformance/fixtures.ts';
import * as graph from './conformance/graph.ts';
import * as life from './conformance/life.ts';
import * as log from './conformance/log.ts';
import * as records from './conformance/records.ts';
import * as refusals from './conformance/refusals.ts';
import * as scan from './conformance/scan.ts';
import * as transactions from './conformance/transactions.ts';
import type { StoreLimits } from './engine-store.ts';
import type { Store } from './store.ts';

const parts: readonly (readonly [title: string, part: (suite: Suite) => void])[] = [
  ['log', log.describeLog],
  ['log queries', log.describeLogReading],
  ['objects', graph.describeObjects],
  ['lists of objects', graph.describeObjectLists],
  ['edges', graph.describeEdges],
  ['reach', graph.describeReach],
  ['records', records.describeRecords],
  ['the life of a record', records.describeRecordLife],
  ['paging records', records.describeRecordLists],
  ['record queries', records.describeRecordQueries],
  ['what is refused', refusals.describeRefusals],
  ['bounds', refusals.describeBounds],
  ['everything', scan.describeScan],
  ['works that fail', transactions.describeTransactions],
  ['what works that fail leave', transactions.describeUndoing],
  ['moments', transactions.describeMoments],
  ['works that wait', transactions.describeWaiting],
  ['the queue', transactions.describeQueue],
  ['erasure', life.describeErasure],
  ['commits and closing', life.describeLife],
];

/**
 * The suite that every driver passes. `open` gives an empty store each time.
 */
export function describeStore(name: string, open: (limits?: StoreLimits) => Promise<Store>): void {
  describe(name, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    const suite: Suite = { store: () => store, open };
    for (const [title, part] of parts) describe(title, () => part(suite));
  });
}

export { edge, entry, object, record } from './conformance/fixtures.ts';
