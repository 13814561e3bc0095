import { z } from 'zod';
import type { DraftInput } from '../model/assertion.ts';
import {
  contentRefSchema,
  outputOfHeader,
  type ContentKeeping,
  type ContentRef,
  type ReadTokenRequest,
} from '../model/content.ts';
import { makeId } from '../model/ids.ts';
import type { Party } from '../model/observation.ts';
import {
  leftRunSchema,
  storedRunSchema,
  type LeftRun,
  type StoredRun,
} from '../model/stored-run.ts';
import type { Handover, Usage } from '../model/usage.ts';
import { segment, type Caller } from './call.ts';
import { contentPath } from './content-path.ts';
import { unlessMissing } from './missing.ts';
import { workerCalls, type WorkerCalls } from './worker-calls.ts';

/** What a Master needs of its hub, over HTTP; the client's key is the Master's own. */
export interface MasterCalls extends Pick<WorkerCalls, 'beat' | 'leave'> {
  newId(kind: 'dialog' | 'task' | 'resource' | 'relationship' | 'message'): string;
  participant(party: Party): Promise<string>;
  assert(drafts: readonly DraftInput[]): Promise<readonly (string | null)[]>;
  locate(taskId: string): Promise<{ activity: string; dialog: string; task: string }>;
  putContent(
    content: ContentKeeping & {
      activity: string;
      resource: string;
      mediaType: string;
      bytes: Uint8Array;
    },
  ): Promise<ContentRef>;
  /** `outputOf`: the Task that put it out, where one did and it may be known. */
  getContent(
    uri: string,
    token?: string,
  ): Promise<{ mediaType: string; bytes: Uint8Array; outputOf?: string | undefined }>;
  callToken(request: { audience: string; seconds: number }): Promise<string>;
  readToken(request: ReadTokenRequest): Promise<string>;
  saveRun(run: {
    id: string;
    activity: string;
    done: boolean;
    state: unknown;
    expected: number;
    /** Process that drives it from now on; null: none does. Absent: as it was. */
    driver?: string | null;
    /** What models of the Master's own used, where that changed; the run's id is then its Task's. */
    usage?: Usage[];
  }): Promise<{ version: number }>;
  loadRun(id: string): Promise<StoredRun | undefined>;
  openRuns(): Promise<readonly string[]>;
  /** Runs whose process is gone. */
  leftRuns(): Promise<readonly LeftRun[]>;
  saveHandover(
    handover: Handover,
    texts: { sent: string; fullHistory: string; returned?: string },
  ): Promise<void>;
}

// Made once each: a schema compiles itself at its first use.
const met = z.object({ participant: z.string() });
const said = z.object({ assertions: z.array(z.string().nullable()) });
const issued = z.object({ token: z.string() });
const version = z.object({ version: z.int() });
const location = z.object({ activity: z.string(), dialog: z.string(), task: z.string() });

export const masterCalls = (hub: Caller): MasterCalls => ({
  beat: (given) => workerCalls(hub).beat(given),
  leave: (given) => workerCalls(hub).leave(given),
  newId: (kind) => makeId(kind, crypto.getRandomValues(new Uint8Array(16))),
  participant: async (party) => {
    const call = { method: 'POST', path: '/participants', json: party, idempotent: true } as const;
    return (await hub.json(call, met)).participant;
  },
  // Saying again what is so already changes nothing, hence it may be tried again.
  assert: async (drafts) => {
    const call = { method: 'POST', path: '/assertions', idempotent: true } as const;
    return (await hub.json({ ...call, json: { drafts } }, said)).assertions;
  },
  locate: async (taskId) =>
    hub.json({ method: 'GET', path: `/locations/${segment(taskId)}` }, location),
  putContent: async ({ bytes, ...query }) =>
    hub.json(
      { method: 'POST', path: '/content', query, bytes, idempotent: true },
      contentRefSchema,
    ),
  getContent: async (uri, token) => {
    const shown = token === undefined ? {} : { 'Throughline-Content-Token': token };
    const call = { method: 'GET', path: contentPath(uri), headers: shown } as const;
    const { mediaType, bytes, headers } = await hub.bytes(call);
    return { mediaType, bytes, outputOf: headers.get(outputOfHeader) ?? undefined };
  },
  callToken: async (request) => {
    const call = { method: 'POST', path: '/call-tokens', idempotent: true } as const;
    return (await hub.json({ ...call, json: request }, issued)).token;
  },
  readToken: async (request) => {
    const call = { method: 'POST', path: '/content-tokens', idempotent: true } as const;
    return (await hub.json({ ...call, json: request }, issued)).token;
  },
  saveRun: async ({ id, ...json }) =>
    hub.json({ method: 'PUT', path: `/runs/${segment(id)}`, json }, version),
  loadRun: async (id) =>
    unlessMissing(hub.json({ method: 'GET', path: `/runs/${segment(id)}` }, storedRunSchema)),
  openRuns: async () => {
    const schema = z.object({ runs: z.array(z.string()) });
    return (await hub.json({ method: 'GET', path: '/runs', query: { open: true } }, schema)).runs;
  },
  leftRuns: async () => {
    const schema = z.object({ runs: z.array(leftRunSchema) });
    return (await hub.json({ method: 'GET', path: '/left-runs' }, schema)).runs;
  },
  saveHandover: async (handover, texts) =>
    hub.nothing({
      method: 'POST',
      path: '/handovers',
      json: { handover, texts },
      idempotent: true,
    }),
});
