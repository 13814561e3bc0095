import { z } from 'zod';
import { foreignId, shortText } from './ids.ts';
import { limits } from './limits.ts';

const host = z.string().min(1).max(255);
const hosts = z.array(host).max(64);
const filePath = z.string().min(1).max(4_096);

/** Other stores than the hub's that contents may lie in, as a file of agents names them. */
const storesSchema = z.strictObject({
  /** `store.example`, `*.example`. */
  hosts: hosts.min(1),
  /** `refer`: agents read there. `take`: what is offered is taken into the hub's store. */
  policy: z.enum(['refer', 'take']).default('refer'),
  /** Files with a token of a store, by its host. */
  tokenFiles: z.record(host, filePath).default({}),
  /** For stores of a private network: what may be reached over plain http, at which addresses, on which ports. */
  plainHttpHosts: hosts.exactOptional(),
  allowAddresses: hosts.exactOptional(),
  ports: z.array(z.int().min(1).max(65_535)).max(64).exactOptional(),
});

const price = z.strictObject({ input: z.number().nonnegative(), output: z.number().nonnegative() });

/** One agent: where it is served, or the file to serve it from, and not both. */
export const listedAgentSchema = z
  .strictObject({
    /** Principal id: what `agent` in a workflow names. */
    id: foreignId,
    name: shortText.exactOptional(),
    /** What it is good for. */
    description: shortText.exactOptional(),
    /** Where it is served. */
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).exactOptional(),
    /** A file to serve it from while the run goes on, beside this one. */
    module: filePath.exactOptional(),
    /** `nobody`: it knows nothing of the hub. */
    behind: z.enum(['hub', 'nobody']).default('hub'),
    /** File with the key of somebody else's agent, sent as a Bearer token. */
    keyFile: filePath.exactOptional(),
  })
  .refine(({ url, module }) => (url === undefined) !== (module === undefined), {
    error: 'needs a url, or a module to serve it from, and not both',
  });

/** A file that says which agents a run may use, and what it may cost. */
export const agentsFileSchema = z.strictObject({
  /** Where an editor finds the schema of such files. */
  $schema: z.string().max(limits.textBytes).optional(),
  agents: z
    .array(listedAgentSchema)
    .min(1)
    .max(64)
    .refine((agents) => new Set(agents.map(({ id }) => id)).size === agents.length, {
      error: 'two of them have the same id',
    }),
  /** Where contents may lie beside the hub's store. */
  stores: storesSchema.exactOptional(),
  /** Of a million tokens, by `agent/model`, model or agent. */
  prices: z.record(z.string(), price).default({}),
  limits: z
    .strictObject({
      tokens: z.number().positive().exactOptional(),
      seconds: z.number().positive().exactOptional(),
      money: z.number().positive().exactOptional(),
      onHit: z.enum(['fail', 'ask']).exactOptional(),
    })
    .default({}),
});
export type AgentsFile = z.output<typeof agentsFileSchema>;
