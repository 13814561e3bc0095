import { describe, expect, it } from 'vitest';
import { Hub } from '../src/hub/index.ts';
import { named } from '../src/server/conformance.ts';
import { apiRows, hubRows, withoutPrincipal, type Row } from './access-rows.ts';
import { everybody, missing, people, secret, World, type Ids, type Known } from './access-world.ts';

const isAllowed = ({ allowed }: Row, person: Known): boolean =>
  allowed === 'anyone' || allowed.includes(person);

/** An answer with the ids that were asked for made alike, so that only they may differ. */
const alike = (text: string, ids: Ids): string =>
  Object.values<string>({ ...ids }).reduce(
    (all, id) => (id === '' ? all : all.replaceAll(id, 'ID')),
    text,
  );

/** Whether an answer holds anything of the owner's case. */
const tells = (text: string, { context, task, run, activity }: Ids): boolean =>
  [secret, context, `"${task}"`, run, activity].some((each) => text.includes(each));

/** A call as one person makes it with some ids: what it says, and whether it went through. */
type Call = (world: World, ids: Ids) => Promise<{ done: boolean; text: string }>;

/**
 * Refused like what is missing: the same words apart from the echoed id, as many reads, nothing written.
 */
async function expectRefusal(world: World, call: Call, row: Row): Promise<void> {
  const before = await world.state();
  const foreign = await world.reads(() => call(world, world.ids));
  const none = await world.reads(() => call(world, missing));
  const told = { ...foreign.result, text: alike(foreign.result.text, world.ids) };
  expect(told).toEqual({ ...none.result, text: alike(none.result.text, missing) });
  expect(told.done).toBe(false);
  expect(tells(told.text, world.ids)).toBe(false);
  if (row.readsDiffer === undefined) {
    expect({ reads: foreign.reads }).toEqual({ reads: none.reads });
  }
  expect(await world.state()).toEqual(before);
}

async function expectList(world: World, call: Call, isThere: boolean): Promise<void> {
  const { done, text } = await call(world, world.ids);
  expect({ done, there: tells(text, world.ids) }).toEqual({ done: true, there: isThere });
}

/** Holds one row against everybody: refusals in one world, what is let through in worlds of their own. */
async function hold(
  row: Row,
  callers: readonly Known[],
  may: (person: Known) => boolean,
  callOf: (person: Known) => Call,
): Promise<void> {
  const world = await World.open();
  for (const person of callers) {
    try {
      if (row.lists === true) await expectList(world, callOf(person), may(person));
      else if (!may(person)) await expectRefusal(world, callOf(person), row);
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
    if (hash !== before.hash || writes !== before.writes) own = await World.open();
  }
}

describe('over the API', () => {
  it('every route has a row, and every row a route', () => {
    expect(Object.keys(apiRows).toSorted()).toEqual(named.map(({ name }) => name).toSorted());
  });

  it.each(named)('$name lets exactly those through who may', async ({ name, route }) => {
    const row = apiRows[name];
    if (row === undefined) throw new Error('no row');
    const send =
      (headers: (world: World) => Record<string, string>): Call =>
      async (world, ids) => {
        const { status, text } = await world.send(route, row.sample(ids), headers(world));
        return { done: status < 300, text: status < 300 ? text : `${status} ${text}` };
      };
    await hold(
      row,
      everybody,
      (person) => isAllowed(row, person),
      (person) => send((world) => ({ Authorization: world.credential(person) })),
    );
    const { handedOn } = row;
    if (handedOn === undefined) return;
    const callers = everybody.filter((person) => person !== 'outsider' && person !== 'agent');
    await hold(
      row,
      callers,
      (person) => handedOn.includes(person),
      (person) =>
        send((world) => ({
          Authorization: world.credential('agent'),
          'Throughline-Caller': world.credential(person),
        })),
    );
  });

  it.each(named)('$name tells nobody anything', async ({ name, route }) => {
    const world = await World.open();
    const sample = apiRows[name]?.sample(world.ids) ?? {};
    const before = await world.state();
    const key = world.credential('owner').slice(0, -1);
    for (const credential of [undefined, 'Bearer', key]) {
      const headers = credential === undefined ? {} : { Authorization: credential };
      const { status, text } = await world.send(route, sample, headers);
      expect({ status, tells: tells(text, world.ids) }).toEqual({ status: 401, tells: false });
    }
    expect(await world.state()).toEqual(before);
  });

  it('an agent hands on no credential of another tenant', async () => {
    const world = await World.open();
    for (const { name, route } of named.filter((each) => apiRows[each.name]?.handedOn)) {
      const { status } = await world.send(route, apiRows[name]?.sample(world.ids) ?? {}, {
        Authorization: world.credential('agent'),
        'Throughline-Caller': world.credential('outsider'),
      });
      expect({ name, status }).toEqual({ name, status: 401 });
    }
  });
});

describe('in the hub’s own process', () => {
  it('every method has a row, and every row a method', async () => {
    const { hub } = await World.open();
    const methodsOf = (of: object): string[] =>
      Object.getOwnPropertyNames(of).filter((name) => name !== 'constructor');
    const desks = [
      ...methodsOf(Object.getPrototypeOf(hub.master(people.agent))).map((name) => `master.${name}`),
      ...methodsOf(hub.agent(people.agent)).map((name) => `agent.${name}`),
    ];
    const methods = methodsOf(Hub.prototype).filter(
      (name) => !withoutPrincipal.includes(name) && name !== 'master' && name !== 'agent',
    );
    const byText = (a: string, b: string): number => (a < b ? -1 : 1);
    expect(Object.keys(hubRows).toSorted(byText)).toEqual([...methods, ...desks].toSorted(byText));
  });

  it.each(Object.entries(hubRows))('%s lets exactly those through who may', async (_name, row) => {
    const call =
      (person: Known): Call =>
      async ({ hub }, ids) => {
        try {
          return {
            done: true,
            text: JSON.stringify((await row.call(hub, people[person], ids)) ?? ''),
          };
        } catch (error) {
          const code = error instanceof Error && 'code' in error ? String(error.code) : 'other';
          return { done: false, text: `${code} ${error instanceof Error ? error.message : ''}` };
        }
      };
    await hold(row, everybody, (person) => isAllowed(row, person), call);
  });
});
