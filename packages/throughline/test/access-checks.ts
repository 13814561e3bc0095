/** What lets a cell of the matrix pass. */
import { expect } from 'vitest';
import type { Row } from './access-rows.ts';
import { missing, secret, World, type Ids, type Known } from './access-world.ts';

export const isAllowed = ({ allowed }: Row, person: Known): boolean =>
  allowed === 'anyone' || allowed.includes(person);

/** An answer with the ids that were asked for made alike, so that only they may differ. */
const alike = (text: string, ids: Ids): string =>
  Object.values<string>({ ...ids }).reduce(
    (all, id) => (id === '' ? all : all.replaceAll(id, 'ID')),
    text,
  );

/** Whether an answer holds anything of the owner's case. */
export const tells = (text: string, { context, task, run, activity }: Ids): boolean =>
  [secret, context, `"${task}"`, run, activity].some((each) => text.includes(each));

/** A call as one person makes it with some ids: what it says, and whether it went through. */
export type Call = (world: World, ids: Ids) => Promise<{ done: boolean; text: string }>;

/**
 * Refused like what is missing: the same words apart from the echoed id, as many reads, nothing written.
 */
async function expectRefusal(
  world: World,
  call: Call,
  { readsDiffer, isKnown }: { readsDiffer: boolean; isKnown: boolean },
): Promise<void> {
  const before = await world.state();
  const foreign = await world.reads(() => call(world, world.ids));
  expect(foreign.result.done).toBe(false);
  expect(await world.state()).toEqual(before);
  if (isKnown) return;
  const none = await world.reads(() => call(world, missing));
  const told = { ...foreign.result, text: alike(foreign.result.text, world.ids) };
  expect(told).toEqual({ ...none.result, text: alike(none.result.text, missing) });
  expect(tells(told.text, world.ids)).toBe(false);
  if (!readsDiffer) expect({ reads: foreign.reads }).toEqual({ reads: none.reads });
  expect(await world.state()).toEqual(before);
}

async function expectList(world: World, call: Call, isThere: boolean): Promise<void> {
  const { done, text } = await call(world, world.ids);
  expect({ done, there: tells(text, world.ids) }).toEqual({ done: true, there: isThere });
}

/** Holds one row against everybody: refusals in one world, what is let through in worlds of their own. */
export async function hold(
  row: Row,
  callers: readonly Known[],
  may: (person: Known) => boolean,
  callOf: (person: Known) => Call,
  open: () => Promise<World> = () => World.open(),
): Promise<void> {
  const world = await open();
  for (const person of callers) {
    try {
      if (row.lists === true) await expectList(world, callOf(person), may(person));
      else if (!may(person)) {
        const isKnown = row.knows?.includes(person) === true;
        const readsDiffer = row.readsDiffer !== undefined;
        await expectRefusal(world, callOf(person), { readsDiffer, isKnown });
      }
    } catch (error) {
      throw new Error(`${person}: ${error instanceof Error ? error.message : ''}`, {
        cause: error,
      });
    }
  }
  let own = world;
  for (const person of callers.filter((each) => row.lists !== true && may(each))) {
    const before = await own.state();
    const { done, text } = await callOf(person)(own, own.ids);
    expect({ person, done, text: done ? '' : text }).toEqual({ person, done: true, text: '' });
    const { hash, writes } = await own.state();
    if (hash !== before.hash || writes !== before.writes) own = await open();
  }
}
