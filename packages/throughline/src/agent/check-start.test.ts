import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../errors.ts';
import type { Principal } from '../model/principal.ts';
import { checkStart } from './check-start.ts';
import { World } from './conformance.ts';
import type { ServeAgentOptions } from './serve-agent.ts';

const world = await World.open();
const worker: Principal = { tenant: 't', id: 'worker', role: 'agent' };

const starting = (
  options: Partial<ServeAgentOptions>,
  whoAmI?: () => Promise<Principal>,
): Promise<void> =>
  checkStart({
    card: { name: 'Worker', description: 'Works', version: '1' },
    ports: world.ports(whoAmI && { whoAmI }),
    principal: worker,
    handler: () => undefined,
    ...options,
  });

const refuses = (failure: ThroughlineError) => async (): Promise<never> => {
  await Promise.resolve();
  throw failure;
};

describe('an agent that starts', () => {
  it('does so with its own key, on this machine', async () => {
    await expect(starting({})).resolves.toBeUndefined();
    await expect(starting({}, () => Promise.resolve(worker))).resolves.toBeUndefined();
  });

  it('needs something that does the work', async () => {
    const { handler: _, ...options }: Partial<ServeAgentOptions> = {};
    const idle = checkStart({
      card: { name: 'Worker', description: 'Works', version: '1' },
      ports: world.ports(),
      principal: worker,
      ...options,
    });
    await expect(idle).rejects.toThrow('give handler for AgentContexts, onMessage');
  });

  it.each<Partial<Principal>>([{ id: 'other' }, { tenant: 'u' }, { role: 'operator' }])(
    'is refused with the key of another: %j',
    async (other) => {
      const started = starting({}, () => Promise.resolve({ ...worker, ...other }));
      await expect(started).rejects.toMatchObject({ code: 'invalid' });
      await expect(started).rejects.toThrow('and the agent is to be agent worker of tenant t');
    },
  );

  it('says that the hub does not know its key', async () => {
    const unknown = refuses(new ThroughlineError('unauthenticated', 'no such key'));
    const started = starting({}, unknown);
    await expect(started).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(started).rejects.toThrow('does not know the key of agent worker');
  });

  it('starts while its hub is away, and says so', async () => {
    const faults: unknown[] = [];
    const away = refuses(new ThroughlineError('unavailable', 'the hub is away'));
    await starting({ onFault: (error) => faults.push(error) }, away);
    expect(faults).toMatchObject([{ code: 'unavailable' }]);
  });

  it('takes no AgentContexts over plain http from elsewhere, unless that is allowed by name', async () => {
    await expect(starting({ host: '0.0.0.0' })).rejects.toThrow('plainHttp');
    await expect(
      starting({ host: '0.0.0.0', publicUrl: 'http://agents.example/' }),
    ).rejects.toMatchObject({ code: 'invalid' });
    await starting({ host: '0.0.0.0', publicUrl: 'https://agents.example/' });
    await starting({ host: '0.0.0.0', plainHttp: true });
    await starting({ host: '::1' });
  });
});
