import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import type { Remark } from './check.ts';

/** Milliseconds that two clocks may be apart before it is worth a word. */
const skew = 5_000;
const answerMs = 5_000;

const infoSchema = z.object({ info: z.object({ title: z.string(), version: z.string() }) });

async function ask(url: string, path: string, key?: string): Promise<Response> {
  const headers: Record<string, string> =
    key === undefined ? {} : { Authorization: `Bearer ${key}` };
  return fetch(new URL(path, url), { headers, signal: AbortSignal.timeout(answerMs) });
}

/** How far the hub’s clock is from ours, by the Date of an answer, which counts whole seconds. */
export async function lookAtClock(url: string): Promise<string | Remark> {
  const asked = Date.now();
  const said = Date.parse((await ask(url, '/health')).headers.get('Date') ?? '');
  const now = (asked + Date.now()) / 2;
  const apart = said - now;
  if (Number.isNaN(apart))
    return { saw: 'the hub tells no time', advice: 'ask it without a proxy' };
  const seconds = Math.round(Math.abs(apart) / 1_000);
  if (Math.abs(apart) <= skew) return `within ${skew / 1_000} s of the hub’s`;
  return {
    saw: `${seconds} s ${apart > 0 ? 'behind' : 'ahead of'} the hub’s`,
    advice: 'set both by a time server; times that run ahead are cut',
  };
}

/** Which API it speaks. */
export async function lookAtVersion(url: string, key: string): Promise<string> {
  const response = await ask(url, '/openapi.json', key);
  const found = infoSchema.safeParse(response.ok ? await response.json() : undefined);
  if (found.success) return `${found.data.info.title}, API version ${found.data.info.version}`;
  throw new ThroughlineError(
    'internal',
    'it does not describe its API; is there a hub at that address?',
  );
}
