/** What every driver of content passes. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import { maxObjectBytes, maxObjectIds, type ContentDriver } from './content.ts';

export const newObjectId = (): string => randomBytes(16).toString('hex');

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof ThroughlineError ? error.code : error),
  );

/** `open` gives an empty place each time; `again`, where it outlives its driver, opens the last one anew. */
export function describeContent(
  name: string,
  open: () => Promise<ContentDriver>,
  again?: () => Promise<ContentDriver>,
): void {
  describe(name, () => {
    let content: ContentDriver;
    beforeEach(async () => {
      content = await open();
    });
    afterEach(() => content.close());

    it('gives back what was put, byte for byte', async () => {
      const every = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
      for (const bytes of [new Uint8Array(), new Uint8Array([0]), every]) {
        const id = newObjectId();
        await content.put(id, bytes);
        expect(Buffer.from((await content.get(id)) ?? [9]).equals(bytes)).toBe(true);
      }
    });

    it('keeps bytes of its own', async () => {
      const id = newObjectId();
      const bytes = new Uint8Array([1, 2]);
      await content.put(id, bytes);
      bytes.fill(9);
      (await content.get(id))?.fill(9);
      expect(await content.get(id)).toEqual(new Uint8Array([1, 2]));
    });

    it('takes the same again without effect, and many at once', async () => {
      const id = newObjectId();
      await Promise.all(Array.from({ length: 8 }, () => content.put(id, new Uint8Array([1, 2]))));
      await content.put(id, new Uint8Array([1, 2]));
      expect(await content.get(id)).toEqual(new Uint8Array([1, 2]));
      expect(await content.list('', 10)).toEqual([id]);
    });

    it('knows nothing of what is not there', async () => {
      expect(await content.get(newObjectId())).toBeUndefined();
      expect(await content.list('', 10)).toEqual([]);
    });

    it('deletes what is there, and nothing else', async () => {
      const [one, two, three] = [newObjectId(), newObjectId(), newObjectId()];
      for (const id of [one, two, three]) await content.put(id, new Uint8Array([1]));
      await content.delete([one, two, newObjectId()]);
      await content.delete([one]);
      await content.delete([]);
      expect(await content.list('', 10)).toEqual([three]);
      expect(await content.get(one)).toBeUndefined();
      expect(await content.get(three)).toEqual(new Uint8Array([1]));
    });

    it('lists ids ascending, a page at a time', async () => {
      const ids = Array.from({ length: 25 }, newObjectId).toSorted();
      await Promise.all(ids.map((id) => content.put(id, new Uint8Array([1]))));
      const seen: string[] = [];
      for (let page = 0; page < 10; page++) {
        const found = await content.list(seen.at(-1) ?? '', 4);
        seen.push(...found);
        if (found.length < 4) break;
      }
      expect(seen).toEqual(ids);
      expect(await content.list('', 0)).toEqual([]);
      expect(await content.list(ids[9] ?? '', maxObjectIds)).toEqual(ids.slice(10));
    });

    it.each(['', '..', '../x', 'A'.repeat(32), 'a'.repeat(31), `${'a'.repeat(32)}/`])(
      'refuses %j as an id',
      async (id) => {
        expect(await codeOf(content.put(id, new Uint8Array([1])))).toBe('invalid');
        expect(await codeOf(content.get(id))).toBe('invalid');
        expect(await codeOf(content.delete([id]))).toBe('invalid');
        if (id !== '') expect(await codeOf(content.list(id, 1))).toBe('invalid');
      },
    );

    it('refuses too much', async () => {
      const id = newObjectId();
      expect(await codeOf(content.put(id, new Uint8Array(maxObjectBytes + 1)))).toBe('too-large');
      expect(await content.get(id)).toBeUndefined();
      const many = Array.from({ length: maxObjectIds + 1 }, () => id);
      expect(await codeOf(content.delete(many))).toBe('invalid');
      expect(await codeOf(content.list('', maxObjectIds + 1))).toBe('invalid');
      expect(await codeOf(content.list('', -1))).toBe('invalid');
    });

    it('takes the largest that is allowed', async () => {
      const id = newObjectId();
      await content.put(id, new Uint8Array(maxObjectBytes).fill(7));
      expect((await content.get(id))?.length).toBe(maxObjectBytes);
    });

    it('is refused once closed', async () => {
      await content.close();
      await content.close();
      expect(await codeOf(content.put(newObjectId(), new Uint8Array()))).toBe('unavailable');
      expect(await codeOf(content.get(newObjectId()))).toBe('unavailable');
      expect(await codeOf(content.delete([]))).toBe('unavailable');
      expect(await codeOf(content.list('', 1))).toBe('unavailable');
    });

    if (again !== undefined) {
      it('is there when it is opened anew', async () => {
        const id = newObjectId();
        await content.put(id, new Uint8Array([1, 2]));
        await content.close();
        content = await again();
        expect(await content.get(id)).toEqual(new Uint8Array([1, 2]));
      });
    }
  });
}
