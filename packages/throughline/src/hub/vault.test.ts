import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { openMemoryStore } from '../store/index.ts';
import { Cursors } from './cursor.ts';
import { systemRandom } from './ids.ts';
import { KeyBox, sameText, Vault } from './vault.ts';

const key = (fill: number) => new Uint8Array(32).fill(fill);
const box = (fill = 1) => new KeyBox(key(fill), systemRandom);

const code = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return error instanceof ThroughlineError ? error.code : 'other';
  }
  return 'none';
};

describe('a sealed piece', () => {
  it('opens under its key and label alone', () => {
    const { sealed, commitment } = box().seal('object/a', { name: 'Priya' });
    expect(box().open('object/a', sealed, commitment)).toEqual({ name: 'Priya' });
    expect(Buffer.from(sealed).includes('Priya')).toBe(false);
    expect(code(() => box().open('object/b', sealed))).toBe('damaged');
    expect(code(() => box(2).open('object/a', sealed))).toBe('damaged');
  });

  it('does not open when a byte of it changed', () => {
    const { sealed } = box().seal('a', ['x']);
    for (let i = 0; i < sealed.length; i++) {
      const changed = Uint8Array.from(sealed);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(code(() => box().open('a', changed))).toBe('damaged');
    }
    expect(code(() => box().open('a', new Uint8Array(3)))).toBe('damaged');
  });

  it('is committed to with a salt: equal content gives other commitments', () => {
    const [a, b] = [box().seal('a', 'x'), box().seal('a', 'x')];
    expect(a.commitment).not.toBe(b.commitment);
    expect(code(() => box().open('a', a.sealed, b.commitment))).toBe('damaged');
  });
});

describe('a vault', () => {
  it('needs a key of 32 bytes', () => {
    expect(code(() => new Vault(new Uint8Array(31)))).toBe('invalid');
  });

  it('blinds equal ids equally, other kinds, parts and domains otherwise', () => {
    const vault = new Vault(key(1));
    const blinded = vault.blind('task', 'shop', 'T-1');
    expect(new Vault(key(1)).blind('task', 'shop', 'T-1')).toBe(blinded);
    expect(vault.blind('task', 'shop', 'T-1')).not.toContain('T-1');
    expect(vault.blind('message', 'shop', 'T-1')).not.toBe(blinded);
    expect(vault.blind('task', 'shopT', '-1')).not.toBe(blinded);
    expect(new Vault(key(2)).blind('task', 'shop', 'T-1')).not.toBe(blinded);
  });

  it('has a key for each case, wrapped; without its record nothing of the case opens', async () => {
    const store = await openMemoryStore();
    const vault = new Vault(key(1));
    const { sealed } = await store.write(async (writer) =>
      (await vault.caseBoxFor(writer, 'act')).seal('a', 'secret'),
    );
    const open = async (scope: string, by = vault) =>
      store.read(async (reader) => (await by.caseBox(reader, scope))?.open('a', sealed));
    expect(await open('act')).toBe('secret');
    expect(await open('other')).toBeUndefined();
    await expect(open('act', new Vault(key(2)))).rejects.toMatchObject({ code: 'damaged' });
    await store.write((writer) => writer.deleteRecord({ kind: 'case-key', key: 'act' }));
    expect(await open('act')).toBeUndefined();
  });

  it('compares texts without regard to length or place', () => {
    expect([sameText('a', 'a'), sameText('a', 'b'), sameText('a', 'aa')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('a page mark', () => {
  const cursors = new Cursors(box(), z.object({ at: z.int() }));

  it('opens for what it was bound to and nothing else', () => {
    const mark = cursors.seal(['t', 'me', {}], { at: 5 });
    expect(cursors.open(['t', 'me', {}], mark)).toEqual({ at: 5 });
    expect(code(() => cursors.open(['t', 'you', {}], mark))).toBe('invalid');
    expect(code(() => cursors.open(['t', 'me', { state: 'x' }], mark))).toBe('invalid');
    expect(code(() => cursors.open(['t', 'me', {}], 'not one'))).toBe('invalid');
    const other = new Cursors(box(), z.object({ other: z.int() }));
    expect(code(() => other.open(['t', 'me', {}], mark))).toBe('invalid');
  });
});
