import { describe, expect, it } from 'vitest';
import { Hub } from '../src/hub/index.ts';
import { named } from '../src/server/conformance.ts';
import { hubRows, withoutPrincipal } from './access-hub-rows.ts';
import { apiRows } from './access-rows.ts';
import { hold, isAllowed, tells, type Call } from './access-checks.ts';
import { everybody, people, World, type Known } from './access-world.ts';

const methodsOf = (of: object): string[] =>
  Object.getOwnPropertyNames(of).filter((name) => name !== 'constructor');
const byText = (a: string, b: string): number => (a < b ? -1 : 1);

/** What processes of agents say of themselves, beside the hub's own methods. */
const workerCalls = ['workers.beat', 'workers.leave', 'workers.takeUp'];

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
    const desks = [
      ...methodsOf(Object.getPrototypeOf(hub.master(people.agent))).map((name) => `master.${name}`),
      ...methodsOf(hub.agent(people.agent)).map((name) => `agent.${name}`),
      ...workerCalls,
    ];
    const methods = methodsOf(Hub.prototype).filter(
      (name) => !withoutPrincipal.includes(name) && name !== 'master' && name !== 'agent',
    );
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
