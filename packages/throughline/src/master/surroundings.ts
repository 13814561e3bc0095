import type * as systeminformation from 'systeminformation';
import {
  arch,
  availableParallelism,
  networkInterfaces,
  platform,
  release,
  totalmem,
} from 'node:os';
import {
  deviceContextMediaType,
  deviceContextSchema,
  type DeviceContext,
} from '../model/device-context.ts';
import {
  environmentContextMediaType,
  environmentContextSchema,
  type EnvironmentContext,
} from '../model/environment-context.ts';
import type { OfferedContent } from './offer.ts';

/** Names under which a subtask asks for them in `needs`. */
export const surroundingNames = { device: 'device-context', environment: 'environment-context' };

/** Milliseconds that asking the machine may take; what it has not said by then is left out. */
const patienceMs = 5_000;

type Information = Pick<
  typeof systeminformation,
  'battery' | 'chassis' | 'graphics' | 'audio' | 'networkInterfaces'
>;

const kinds: readonly (readonly [pattern: RegExp, kind: DeviceContext['kind']])[] = [
  [/notebook|laptop|portable|convertible/i, 'laptop'],
  [/tablet/i, 'tablet'],
  [/hand held|phone/i, 'phone'],
  [/server|rack|blade/i, 'server'],
  [/embedded|iot/i, 'embedded'],
  [/desktop|tower|all in one|mini pc|space-saving/i, 'desktop'],
];

/**
 * The machine that this process runs on. What `systeminformation` knows is asked where that package is
 * installed; the rest is Node's own. No name, address or serial number is in it.
 */
export async function collectDevice(now: () => Date = () => new Date()): Promise<DeviceContext> {
  const information = await loadInformation();
  const [chassis, battery, graphics, audio, interfaces] = await Promise.all([
    soon(information?.chassis()),
    soon(information?.battery()),
    soon(information?.graphics()),
    soon(information?.audio()),
    soon(information?.networkInterfaces()),
  ]);
  const displays = graphics?.displays.length ?? 0;
  const models = graphics?.controllers.flatMap(({ model }) => model || []).slice(0, 16) ?? [];
  return deviceContextSchema.parse({
    kind: kinds.find(([pattern]) => pattern.test(chassis?.type ?? ''))?.[1] ?? 'other',
    os: { name: platform(), version: release(), architecture: arch() },
    capabilities: {
      processors: availableParallelism(),
      memoryBytes: totalmem(),
      ...(models.length === 0 ? {} : { graphics: models }),
    },
    modalities: [
      'text',
      ...(displays > 0 ? ['display'] : []),
      ...(audio !== undefined && audio.length > 0 ? ['speaker'] : []),
    ],
    power: powerOf(battery),
    network: networkOf(interfaces),
    asOf: now().toISOString(),
  });
}

type Battery = Awaited<ReturnType<Information['battery']>>;
type Interfaces = Awaited<ReturnType<Information['networkInterfaces']>>;

function powerOf(battery: Battery | undefined): DeviceContext['power'] {
  if (battery === undefined) return { source: 'unknown' };
  if (!battery.hasBattery) return { source: 'mains' };
  const source = battery.acConnected ? 'mains' : 'battery';
  return { source, batteryPercent: Math.min(100, Math.max(0, battery.percent)) };
}

function networkOf(known: Interfaces | undefined): DeviceContext['network'] {
  const outward = Object.values(networkInterfaces()).flat();
  const online = outward.some((each) => each?.internal === false);
  if (!online) return { online, kind: 'none' };
  const all = known === undefined ? [] : [known].flat();
  const main = all.find((each) => each.default) ?? all.find((each) => !each.internal);
  const kind = main?.type === 'wired' || main?.type === 'wireless' ? main.type : 'unknown';
  return { online, kind };
}

/** When it is, and for whom, as this process is set up; `given` says what a process can't know. */
export function collectEnvironment(
  given: Partial<EnvironmentContext> = {},
  now: () => Date = () => new Date(),
): EnvironmentContext {
  const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions();
  const zone = given.zone ?? timeZone;
  return environmentContextSchema.parse({
    locale,
    constraints: [],
    ...given,
    zone,
    time: given.time ?? localTime(now(), zone),
  });
}

/** RFC 3339 with the offset that the zone has then. */
function localTime(at: Date, zone: string): string {
  const options = { timeZone: zone, timeZoneName: 'longOffset' } as const;
  const parts = new Intl.DateTimeFormat('en-US', options).formatToParts(at);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const [, sign = '+', hours = '00', minutes = '00'] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  const local = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, 19);
  return `${local}${sign}${hours}:${minutes}`;
}

interface Surroundings {
  /** What is offered anyhow: it is not collected under a name that is taken. */
  readonly offered?: readonly { readonly name: string }[];
  readonly device?: () => Promise<DeviceContext> | DeviceContext;
  readonly environment?: () => Promise<EnvironmentContext> | EnvironmentContext;
}

/**
 * What to offer to a run of this plan: of device and environment those that one of its subtasks needs, and
 * nothing where none does. Collected of this process unless `by` says otherwise.
 */
export async function offerSurroundings(
  plan: { readonly subtasks: readonly { readonly needs?: readonly unknown[] }[] },
  by: Surroundings = {},
): Promise<OfferedContent[]> {
  const { device = () => collectDevice(), environment = () => collectEnvironment() } = by;
  const needed = new Set(plan.subtasks.flatMap(({ needs = [] }) => needs.map(nameOf)));
  for (const { name } of by.offered ?? []) needed.delete(name);
  const offered: OfferedContent[] = [];
  if (needed.has(surroundingNames.device)) {
    offered.push({
      ...item(surroundingNames.device, 'What the device is and can do'),
      mediaType: deviceContextMediaType,
      content: JSON.stringify(deviceContextSchema.parse(await device())),
    });
  }
  if (needed.has(surroundingNames.environment)) {
    offered.push({
      ...item(surroundingNames.environment, 'When and where the task is asked for'),
      mediaType: environmentContextMediaType,
      content: JSON.stringify(environmentContextSchema.parse(await environment())),
    });
  }
  return offered;
}

const item = (name: string, description: string) =>
  ({ name, type: 'other', description, priority: 'must_preserve' }) as const;

const nameOf = (need: unknown): unknown =>
  typeof need === 'object' && need !== null && 'item' in need ? need.item : need;

async function loadInformation(): Promise<Information | undefined> {
  try {
    return await import('systeminformation');
  } catch {
    return undefined;
  }
}

/** What comes in time; undefined for what does not, or fails. */
async function soon<T>(asked: Promise<T> | undefined): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), patienceMs);
  try {
    return await Promise.race([asked, late.promise]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
