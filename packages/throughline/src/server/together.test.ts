import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Together } from './together.ts';

const fail = (): Promise<string> => Promise.reject(new Error('down'));

it('asks once for all who wait, and never answers from before a question', async () => {
  const together = new Together<number>();
  let now = 0;
  let asked = 0;
  const work = async (): Promise<number> => {
    asked += 1;
    const seen = now;
    await sleep(5);
    return seen;
  };
  const first = together.ask('a', work);
  now = 1;
  const late = [together.ask('a', work), together.ask('a', work), together.ask('a', work)];
  expect(await first).toBe(0);
  expect(await Promise.all(late)).toEqual([1, 1, 1]);
  expect(asked).toBe(2);
  now = 2;
  expect(await together.ask('a', work)).toBe(2);
});

it('a failure is told to those who asked, and to nobody after', async () => {
  const together = new Together<string>();
  const [first, second] = [together.ask('a', fail), together.ask('a', () => Promise.resolve('up'))];
  await expect(first).rejects.toThrow('down');
  expect(await second).toBe('up');
});
