import { z } from 'zod';
import { shortText, timestamp } from './ids.ts';

export const deviceKinds = [
  'desktop',
  'laptop',
  'phone',
  'tablet',
  'server',
  'vehicle',
  'embedded',
  'other',
] as const;

/** Ways in which a device takes something from people, or gives something to them. */
export const modalities = [
  'text',
  'keyboard',
  'pointer',
  'touch',
  'microphone',
  'camera',
  'display',
  'speaker',
] as const;

/**
 * DeviceContext, which draft-chang-agentproto-context-interaction-00 leaves for later: what the device of
 * the user, or that a task runs on, is and can do. Nothing in it names the device or its owner.
 */
export const deviceContextSchema = z.object({
  kind: z.enum(deviceKinds),
  os: z.object({
    name: shortText,
    version: shortText.exactOptional(),
    architecture: shortText.exactOptional(),
  }),
  capabilities: z.object({
    processors: z.int().positive().exactOptional(),
    memoryBytes: z.int().positive().exactOptional(),
    /** Graphics processors, by model. */
    graphics: z.array(shortText).max(16).exactOptional(),
  }),
  modalities: z.array(z.enum(modalities)).max(modalities.length),
  power: z.object({
    source: z.enum(['mains', 'battery', 'unknown']),
    /** 0 to 100. */
    batteryPercent: z.number().min(0).max(100).exactOptional(),
  }),
  network: z.object({
    online: z.boolean(),
    kind: z.enum(['wired', 'wireless', 'cellular', 'none', 'unknown']),
    /** What goes over it is paid for by amount. */
    metered: z.boolean().exactOptional(),
  }),
  /** When all this was so. */
  asOf: timestamp,
});
export type DeviceContext = z.infer<typeof deviceContextSchema>;
export const deviceContextMediaType = 'application/vnd.throughline.device-context+json';
