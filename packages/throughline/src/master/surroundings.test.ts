import { hostname, userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { deviceContextSchema } from '../model/device-context.ts';
import { environmentContextSchema } from '../model/environment-context.ts';
import { collectDevice, collectEnvironment, offerSurroundings } from './surroundings.ts';

const at = () => new Date('2031-05-04T10:00:00.000Z');

describe('the device', () => {
  it('is told of in the published form, and nothing names it or its owner', async () => {
    const device = await collectDevice(at);
    expect(deviceContextSchema.parse(device)).toEqual(device);
    expect(device).toMatchObject({ os: { name: process.platform }, asOf: at().toISOString() });
    expect(device.capabilities.processors).toBeGreaterThan(0);
    const said = JSON.stringify(device);
    for (const secret of [hostname(), userInfo().username]) {
      expect(said.split(/[^\w-]+/)).not.toContain(secret);
    }
    expect(said).not.toMatch(/([0-9a-f]{2}:){5}[0-9a-f]{2}/i);
  }, 30_000);
});

describe('the environment', () => {
  it.each([
    ['UTC', '2031-05-04T10:00:00+00:00'],
    ['Europe/Lisbon', '2031-05-04T11:00:00+01:00'],
    ['Asia/Kolkata', '2031-05-04T15:30:00+05:30'],
    ['America/New_York', '2031-05-04T06:00:00-04:00'],
  ])('has the time of the zone %s', (zone, time) => {
    const environment = collectEnvironment({ zone, constraints: ['quiet hours'] }, at);
    expect(environment).toMatchObject({ zone, time, constraints: ['quiet hours'] });
    expect(environmentContextSchema.parse(environment)).toEqual(environment);
  });

  it('is this process’s own where nothing is said, and never made up', () => {
    const environment = collectEnvironment({}, at);
    expect(environment.locale).not.toBe('');
    expect(environment).not.toHaveProperty('place');
    expect(() => collectEnvironment({ place: { latitude: 91 } })).toThrow();
  });
});

describe('what is offered to a run', () => {
  const asked: string[] = [];
  const by = {
    device: async () => {
      asked.push('device');
      return collectDevice(at);
    },
    environment: () => {
      asked.push('environment');
      return collectEnvironment({ zone: 'UTC' }, at);
    },
  };

  it('is nothing, and nothing is collected, where no subtask needs it', async () => {
    const plan = { subtasks: [{ needs: ['terms', { item: 'device' }] }, {}] };
    expect(await offerSurroundings(plan, by)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('is not collected under a name that somebody offers', async () => {
    const plan = { subtasks: [{ needs: ['device-context'] }] };
    const offered = [{ name: 'device-context' }];
    expect(await offerSurroundings(plan, { ...by, offered })).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('is what a subtask needs, by its name', async () => {
    const plan = { subtasks: [{ needs: [{ item: 'environment-context' }] }] };
    const offered = await offerSurroundings(plan, by);
    expect(offered.map(({ name }) => name)).toEqual(['environment-context']);
    expect(asked).toEqual(['environment']);
    const both = { subtasks: [{ needs: ['environment-context'] }, { needs: ['device-context'] }] };
    expect(await offerSurroundings(both, by)).toHaveLength(2);
    const content: unknown = offered[0]?.content;
    if (typeof content !== 'string') throw new Error('no text');
    expect(environmentContextSchema.parse(JSON.parse(content)).zone).toBe('UTC');
  });
});
