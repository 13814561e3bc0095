import { expect, test } from 'vitest';
import { entry } from './conformance.ts';
import { EngineStore } from './engine-store.ts';
import { MemoryEngine } from './memory/engine.ts';

test('a commit that its follower hears of first is told once, and so are those of others', async () => {
  let follower: ((seq: number) => void) | undefined;
  const hear = (seq: number): void => follower?.(seq);
  class Echoing extends MemoryEngine {
    override commit(): void {
      super.commit();
      hear(this.head().seq);
    }
  }
  const store = new EngineStore({
    writer: new Echoing(),
    readers: [],
    follow: (heard) => (follower = heard),
    close() {},
  });
  const heard: number[] = [];
  store.onCommit((seq) => heard.push(seq));
  await store.write((w) => w.append([entry('1'), entry('2')]));
  expect(heard).toEqual([2]);
  hear(1);
  hear(2);
  hear(5);
  expect(heard).toEqual([2, 5]);
  await store.close();
});
