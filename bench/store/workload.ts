import type { Store } from 'throughline/store';

/** One assertion as the hub records it: an entry, the object it changes, sometimes an edge. */
export interface Assertion {
  readonly id: string;
  readonly about: string;
  readonly activity: string;
  readonly shape: { readonly [key: string]: string };
  readonly sealed: Uint8Array;
  readonly edge: { readonly id: string; readonly to: string } | undefined;
}

const id = (prefix: string, n: number): string => `${prefix}_${n.toString(32).padStart(26, 'z')}`;

/** Every fourth opens a Dialog that delegates from an earlier one, the rest change a recent one. */
export function assertions(count: number): readonly Assertion[] {
  return Array.from({ length: count }, (_, i) => {
    const dialog = i >> 2;
    const about = id('dlg', dialog);
    const activity = id('act', i >> 6);
    return {
      // Public ids are random: spread them over the index.
      id: id('asr', (i * 2_654_435_761) % 2 ** 40),
      about,
      activity,
      shape: {
        about,
        activity,
        at: '2026-01-01T00:00:00.000Z',
        basis: 'observed',
        commitment: 'c'.repeat(43),
        state: ['opened', 'working', 'input-required', 'completed'][i & 3] ?? '',
        verb: 'dialog.state',
      },
      sealed: new Uint8Array(200).fill(i),
      edge: (i & 3) === 0 ? { id: id('rel', dialog), to: id('dlg', dialog >> 1) } : undefined,
    };
  });
}

/** Records one; resolves when it is on the disk. */
export function record(store: Store, assertion: Assertion): Promise<void> {
  const { about, activity, shape, sealed, edge } = assertion;
  return store.write(async (writer) => {
    const [entry] = await writer.append([{ id: assertion.id, about, activity, shape, sealed }]);
    const seq = entry?.seq ?? 0;
    await writer.putObject({ id: about, kind: 'dialog', activity, shape, sealed, seq });
    if (edge === undefined) return;
    await writer.putEdge({
      ...edge,
      type: 'delegated-from',
      from: about,
      status: 'active',
      activity,
      shape: {},
      seq,
    });
  });
}
